// The adapted projection: base plus scaled low-rank update.
#include "lora.h"

#include <torch/nn/functional/linear.h>
#include <torch/nn/init.h>

#include <cmath>

namespace models {

LoraLinearImpl::LoraLinearImpl(std::int64_t in_features, std::int64_t out_features) {
  weight = register_parameter("weight", torch::empty({out_features, in_features}));
  torch::nn::init::kaiming_uniform_(weight, std::sqrt(5.0));
}

void LoraLinearImpl::add_adapter(const LoraConfig& config) {
  config_ = config;
  const std::int64_t in_features = weight.size(1);
  const std::int64_t out_features = weight.size(0);
  const auto no_bias = [](std::int64_t in, std::int64_t out) {
    return torch::nn::LinearOptions(in, out).bias(false);
  };
  lora_a = register_module("lora_A", torch::nn::Linear(no_bias(in_features, config.rank)));
  lora_b = register_module("lora_B", torch::nn::Linear(no_bias(config.rank, out_features)));
  torch::nn::init::kaiming_uniform_(lora_a->weight, std::sqrt(5.0));
  torch::nn::init::zeros_(lora_b->weight);
  weight.set_requires_grad(false);
}

torch::Tensor LoraLinearImpl::forward(const torch::Tensor& input) {
  const torch::Tensor base = torch::nn::functional::linear(input, weight);
  if (!lora_a) return base;

  const double scale = config_.alpha / static_cast<double>(config_.rank);
  const torch::Tensor dropped = torch::dropout(input, config_.dropout, is_training());
  const torch::Tensor compressed = lora_a->forward(dropped);
  const torch::Tensor update = lora_b->forward(compressed);
  return base + scale * update;
}

torch::Tensor LoraLinearImpl::merged_weight() const {
  if (!lora_a) return weight;
  const double scale = config_.alpha / static_cast<double>(config_.rank);
  return weight + scale * torch::matmul(lora_b->weight, lora_a->weight);
}

}  // namespace models
