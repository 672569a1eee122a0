// A linear projection that can be given a low-rank adapter (LoRA, Hu et al. 2021), named as PEFT
// does.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace models {

struct LoraConfig {
  std::int64_t rank = 8;
  double alpha = 16;
  double dropout = 0.05;
};

// x · weightᵀ, and once add_adapter() was called, + alpha / rank · B(A(dropout(x))).
//
// The projection keeps its parameter name ("q.weight") with an adapter or without, so weights of a
// model without adapters load by name; the adapter adds "q.lora_A.weight" and "q.lora_B.weight".
class LoraLinearImpl : public torch::nn::Module {
 public:
  LoraLinearImpl(std::int64_t in_features, std::int64_t out_features);

  // Registers lora_A (Kaiming-uniform) and lora_B (zeros: the first output is the base's) on the
  // CPU, and freezes the base. The caller places them.
  void add_adapter(const LoraConfig& config);

  // [..., in_features] to [..., out_features].
  torch::Tensor forward(const torch::Tensor& input);

  // The one weight that does what base and adapter do together in evaluation.
  torch::Tensor merged_weight() const;

  torch::Tensor weight;  // [out_features, in_features]
  torch::nn::Linear lora_a{nullptr};
  torch::nn::Linear lora_b{nullptr};

 private:
  LoraConfig config_;
};
TORCH_MODULE(LoraLinear);

}  // namespace models
