// The model as a whole: masks, images, layers, loss.
#include "idefics.h"

#include <torch/nn/functional/linear.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/container/modulelist.h>

#include <limits>

namespace models::multimodal {
namespace {

constexpr double kEmbeddingDeviation = 0.02;

// Positions count the tokens that are no padding; padding gets one that exists.
torch::Tensor position_ids_of(const torch::Tensor& attention_mask) {
  return (attention_mask.cumsum(-1) - 1).masked_fill(attention_mask == 0, 1);
}

// bool [batch, 1, length, length]: a token sees itself and those before it, none of them padding.
torch::Tensor causal_mask(const torch::Tensor& attention_mask) {
  const std::int64_t length = attention_mask.size(1);
  const torch::Tensor is_before =
      torch::ones({length, length}, attention_mask.options().dtype(torch::kBool)).tril();
  return attention_mask.to(torch::kBool).view({-1, 1, 1, length}).logical_and(is_before);
}

}  // namespace

DecoupledEmbeddingImpl::DecoupledEmbeddingImpl(const IdeficsConfig& config) {
  weight = register_parameter("weight", torch::empty({config.vocabulary, config.width}));
  torch::nn::init::normal_(weight, 0.0, kEmbeddingDeviation);
  if (config.additional_vocabulary > 0) {
    additional_embedding = register_module(
        "additional_embedding", torch::nn::Embedding(config.additional_vocabulary, config.width));
    torch::nn::init::normal_(additional_embedding->weight, 0.0, kEmbeddingDeviation);
  }
}

torch::Tensor DecoupledEmbeddingImpl::forward(const torch::Tensor& input_ids) {
  if (!additional_embedding) return torch::embedding(weight, input_ids);
  // Each table is asked for every token, for some row where the token is not its own: choosing
  // tokens by an index would make the host wait for their number.
  const std::int64_t vocabulary = weight.size(0);
  const torch::Tensor is_additional = input_ids >= vocabulary;
  const torch::Tensor base = torch::embedding(weight, input_ids.masked_fill(is_additional, 0));
  const torch::Tensor additional =
      additional_embedding->forward((input_ids - vocabulary).clamp_min(0));
  return torch::where(is_additional.unsqueeze(-1), additional, base);
}

DecoupledLinearImpl::DecoupledLinearImpl(const IdeficsConfig& config) {
  weight = register_parameter("weight", torch::empty({config.vocabulary, config.width}));
  torch::nn::init::normal_(weight, 0.0, kEmbeddingDeviation);
  if (config.additional_vocabulary > 0) {
    additional_fc = register_module(
        "additional_fc",
        torch::nn::Linear(
            torch::nn::LinearOptions(config.width, config.additional_vocabulary).bias(false)));
    torch::nn::init::normal_(additional_fc->weight, 0.0, kEmbeddingDeviation);
  }
}

torch::Tensor DecoupledLinearImpl::forward(const torch::Tensor& hidden) {
  const torch::Tensor base = torch::nn::functional::linear(hidden, weight);
  if (!additional_fc) return base;
  return torch::cat({base, additional_fc->forward(hidden)}, -1);
}

IdeficsModelImpl::IdeficsModelImpl(const IdeficsConfig& config, Fault fault)
    : cross_layer_interval_(static_cast<std::size_t>(config.cross_layer_interval)) {
  embed_tokens = register_module("embed_tokens", DecoupledEmbedding(config));
  vision_model = register_module("vision_model", VisionTower(config.vision, fault));
  torch::nn::ModuleList layer_list;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    layers.emplace_back(config);
    layer_list->push_back(layers.back());
  }
  register_module("layers", layer_list);
  torch::nn::ModuleList cross_list;
  for (std::int64_t i = 0; i < config.layers; i += config.cross_layer_interval) {
    gated_cross_attn_layers.emplace_back(config, fault);
    cross_list->push_back(gated_cross_attn_layers.back());
  }
  register_module("gated_cross_attn_layers", cross_list);
  norm = register_module("norm", RMSNorm(config.width, config.norm_epsilon));
}

ImageContext IdeficsModelImpl::look_at(const IdeficsInputs& inputs) {
  const torch::Tensor images = inputs.pixel_values.flatten(0, 1);
  const torch::Tensor features = vision_model->forward(images);  // [batch · images, patches, width]
  const std::int64_t batch = inputs.pixel_values.size(0);
  const std::int64_t patches = features.size(1);

  // What holds of an image holds of each of its patches.
  const torch::Tensor may_look =
      inputs.image_attention_mask.to(torch::kBool).repeat_interleave(patches, 2).unsqueeze(1);
  const torch::Tensor bias =
      torch::zeros(may_look.sizes(), features.options())
          .masked_fill(may_look.logical_not(), std::numeric_limits<float>::lowest());
  const torch::Tensor gate = may_look.any(-1).transpose(1, 2);
  return {features.reshape({batch, -1, features.size(2)}), bias, gate};
}

torch::Tensor IdeficsModelImpl::forward(const IdeficsInputs& inputs, const torch::Tensor& shifts) {
  const ImageContext image = look_at(inputs);
  const torch::Tensor position_ids = position_ids_of(inputs.attention_mask);
  const torch::Tensor mask = causal_mask(inputs.attention_mask);

  torch::Tensor hidden = embed_tokens->forward(inputs.input_ids);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (shifts.defined()) {
      const torch::Tensor shift = shifts.select(1, static_cast<std::int64_t>(i)).unsqueeze(1);
      hidden = hidden + shift;
    }
    if (i % cross_layer_interval_ == 0) {
      hidden = gated_cross_attn_layers[i / cross_layer_interval_]->forward(hidden, image);
    }
    hidden = layers[i]->forward(hidden, mask, position_ids);
  }
  return norm->forward(hidden);
}

IdeficsImpl::IdeficsImpl(const IdeficsConfig& config, Fault fault) {
  model = register_module("model", IdeficsModel(config, fault));
  lm_head = register_module("lm_head", DecoupledLinear(config));
}

torch::Tensor IdeficsImpl::forward(const IdeficsInputs& inputs, const torch::Tensor& shifts) {
  return lm_head->forward(model->forward(inputs, shifts));
}

torch::Tensor next_token_loss(const torch::Tensor& logits, const torch::Tensor& labels) {
  const torch::Tensor predictions = logits.slice(1, 0, -1).flatten(0, 1);
  const torch::Tensor targets = labels.slice(1, 1).flatten();
  return torch::cross_entropy_loss(predictions, targets, {}, at::Reduction::Sum, kIgnored);
}

}  // namespace models::multimodal
