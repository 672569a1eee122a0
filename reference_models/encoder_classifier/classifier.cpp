// The classifier, and the places of most planted faults.
#include "classifier.h"

#include <fmt/format.h>
#include <torch/nn/init.h>

#include <cmath>

#include "common/dispatch.h"

namespace models {
namespace {

std::int64_t bytes_of(const torch::nn::Module& module) {
  std::int64_t bytes = 0;
  for (const torch::Tensor& parameter : module.parameters()) {
    bytes += static_cast<std::int64_t>(parameter.nbytes());
  }
  return bytes;
}

}  // namespace

EncoderClassifierImpl::EncoderClassifierImpl(const T5Config& config, std::int64_t padding,
                                             Fault fault)
    : padding_(padding), fault_(fault) {
  shared = register_module("shared", torch::nn::Embedding(config.vocabulary, config.width));
  encoder = register_module("encoder", T5Encoder(config));
  classifier = register_module("classifier", torch::nn::Linear(config.width, 1));
  torch::nn::init::normal_(classifier->weight, 0.0,
                           1.0 / std::sqrt(static_cast<double>(config.width)));
  torch::nn::init::zeros_(classifier->bias);
}

std::vector<ModelPart> EncoderClassifierImpl::parts() const {
  std::vector<ModelPart> parts{{"shared", bytes_of(*shared)}};
  for (std::size_t i = 0; i < encoder->blocks.size(); ++i) {
    parts.push_back({fmt::format("encoder.block.{}", i), bytes_of(*encoder->blocks[i])});
  }
  parts.push_back({"encoder.final_layer_norm", bytes_of(*encoder->final_layer_norm)});
  parts.push_back({"classifier", bytes_of(*classifier)});
  return parts;
}

void EncoderClassifierImpl::add_lora(const LoraConfig& config) {
  shared->weight.set_requires_grad(false);
  for (torch::Tensor& parameter : encoder->parameters()) parameter.set_requires_grad(false);

  for (T5Block& block : encoder->blocks) {
    T5Attention& attention = block->attention_layer->self_attention;
    for (LoraLinear projection : {attention->q, attention->v}) {
      projection->add_adapter(config);
      if (fault_ == Fault::kLora) {
        projection->lora_a->to(shared->weight.device());  // fault: lora
        projection->lora_b->to(shared->weight.device());
      } else {
        projection->lora_a->to(projection->weight.device());
        projection->lora_b->to(projection->weight.device());
      }
    }
  }
}

torch::Tensor EncoderClassifierImpl::forward(const torch::Tensor& input_ids) {
  const torch::Tensor token_mask = input_ids != padding_;
  const torch::Tensor embedded = shared->forward(input_ids);
  const auto [hidden, mask] = encoder->forward(embedded, token_mask);

  // Mean over the letters: every sequence ends in an end token, which is left out with the padding.
  const torch::Tensor letters = mask.sum(1, /*keepdim=*/true) - 1;  // [batch, 1]
  torch::Tensor positions;
  if (fault_ == Fault::kMask) {
    positions = torch::arange(hidden.size(1));  // fault: mask
  } else {
    positions = torch::arange(hidden.size(1), letters.options());
  }
  const torch::Tensor letter_mask = positions < letters;  // [batch, length]
  const torch::Tensor total = (hidden * letter_mask.unsqueeze(-1)).sum(1);

  torch::Tensor at_least;  // a row without letters is 0, not 0 / 0
  if (fault_ == Fault::kLiteral) {
    at_least = torch::ones({letters.size(0), 1}, torch::Device("cuda:0"));  // fault: literal
  } else {
    at_least = torch::ones_like(letters);
  }
  torch::Tensor pooled = total / torch::maximum(letters, at_least);

  // One statement: two that end in the same call would be merged by the optimiser into one line's.
  const torch::Tensor& beside = fault_ == Fault::kPooled ? input_ids : classifier->weight;
  pooled = pooled.to(beside.device());  // fault: pooled
  if (fault_ == Fault::kHeadMoved) {
    classifier->to(input_ids.device());  // fault: head-moved
  }
  return classifier->forward(pooled).squeeze(-1);
}

}  // namespace models
