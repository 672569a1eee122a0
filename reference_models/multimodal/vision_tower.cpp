// The vision tower, step by step.
#include "vision_tower.h"

#include <torch/nn/init.h>
#include <torch/nn/modules/container/modulelist.h>

#include "common/heads.h"

namespace models::multimodal {
namespace {

torch::nn::LayerNorm layer_norm(const VisionConfig& config) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({config.width}).eps(config.norm_epsilon));
}

}  // namespace

VisionEmbeddingsImpl::VisionEmbeddingsImpl(const VisionConfig& config, Fault fault)
    : fault_(fault) {
  const std::int64_t patches_a_side = config.image_size / config.patch_size;
  const std::int64_t positions = patches_a_side * patches_a_side + 1;
  class_embedding = register_parameter("class_embedding", torch::randn({config.width}));
  patch_embedding = register_module(
      "patch_embedding",
      torch::nn::Conv2d(torch::nn::Conv2dOptions(config.channels, config.width, config.patch_size)
                            .stride(config.patch_size)
                            .bias(false)));
  position_embedding =
      register_module("position_embedding", torch::nn::Embedding(positions, config.width));
  torch::nn::init::normal_(position_embedding->weight, 0.0, 0.02);
  position_ids_ = register_buffer("position_ids", torch::arange(positions).unsqueeze(0));
}

torch::Tensor VisionEmbeddingsImpl::forward(const torch::Tensor& pixels) {
  torch::Tensor images = pixels;
  if (fault_ == Fault::kVisionLiteral) {
    images = pixels.to(torch::Device("cuda:0"));  // fault: vision-literal
  }
  const torch::Tensor patches = patch_embedding->forward(images);     // [images, width, side, side]
  const torch::Tensor sequence = patches.flatten(2).transpose(1, 2);  // [images, patches, width]
  const torch::Tensor whole = class_embedding.expand({pixels.size(0), 1, -1});
  const torch::Tensor positions = position_embedding->forward(position_ids_);
  return torch::cat({whole, sequence}, 1) + positions;
}

VisionAttentionImpl::VisionAttentionImpl(const VisionConfig& config) : heads_(config.heads) {
  const std::int64_t width = config.width;
  q_proj = register_module("q_proj", torch::nn::Linear(width, width));
  k_proj = register_module("k_proj", torch::nn::Linear(width, width));
  v_proj = register_module("v_proj", torch::nn::Linear(width, width));
  out_proj = register_module("out_proj", torch::nn::Linear(width, width));
}

torch::Tensor VisionAttentionImpl::forward(const torch::Tensor& hidden) {
  const torch::Tensor query = split_heads(q_proj->forward(hidden), heads_);
  const torch::Tensor key = split_heads(k_proj->forward(hidden), heads_);
  const torch::Tensor value = split_heads(v_proj->forward(hidden), heads_);
  const torch::Tensor context = torch::scaled_dot_product_attention(query, key, value);
  return out_proj->forward(join_heads(context));
}

VisionMlpImpl::VisionMlpImpl(const VisionConfig& config) {
  fc1 = register_module("fc1", torch::nn::Linear(config.width, config.inner_width));
  fc2 = register_module("fc2", torch::nn::Linear(config.inner_width, config.width));
}

torch::Tensor VisionMlpImpl::forward(const torch::Tensor& hidden) {
  return fc2->forward(torch::gelu(fc1->forward(hidden)));
}

VisionLayerImpl::VisionLayerImpl(const VisionConfig& config) {
  self_attn = register_module("self_attn", VisionAttention(config));
  layer_norm1 = register_module("layer_norm1", layer_norm(config));
  mlp = register_module("mlp", VisionMlp(config));
  layer_norm2 = register_module("layer_norm2", layer_norm(config));
}

torch::Tensor VisionLayerImpl::forward(const torch::Tensor& hidden) {
  const torch::Tensor attended = hidden + self_attn->forward(layer_norm1->forward(hidden));
  return attended + mlp->forward(layer_norm2->forward(attended));
}

VisionEncoderImpl::VisionEncoderImpl(const VisionConfig& config) {
  torch::nn::ModuleList list;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    layers.emplace_back(config);
    list->push_back(layers.back());
  }
  register_module("layers", list);
}

torch::Tensor VisionEncoderImpl::forward(const torch::Tensor& embedded) {
  torch::Tensor hidden = embedded;
  for (VisionLayer& layer : layers) hidden = layer->forward(hidden);
  return hidden;
}

VisionTowerImpl::VisionTowerImpl(const VisionConfig& config, Fault fault) {
  embeddings = register_module("embeddings", VisionEmbeddings(config, fault));
  pre_layrnorm = register_module("pre_layrnorm", layer_norm(config));
  encoder = register_module("encoder", VisionEncoder(config));
  post_layernorm = register_module("post_layernorm", layer_norm(config));
  for (torch::Tensor& parameter : post_layernorm->parameters()) parameter.set_requires_grad(false);
}

torch::Tensor VisionTowerImpl::forward(const torch::Tensor& pixels) {
  const torch::Tensor embedded = embeddings->forward(pixels);
  const torch::Tensor normalised = pre_layrnorm->forward(embedded);
  return encoder->forward(normalised);
}

}  // namespace models::multimodal
