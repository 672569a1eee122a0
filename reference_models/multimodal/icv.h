// The in-context-vector encoder (Liu et al. 2023; learnable: Peng et al. 2024): instead of
// instructions and examples in the prompt, one vector a layer that is added to the hidden states.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace models::multimodal {

class IcvEncoderImpl : public torch::nn::Module {
 public:
  // `tasks` tasks, for a language model of `layers` layers of `width`.
  IcvEncoderImpl(std::int64_t tasks, std::int64_t layers, std::int64_t width);

  // task int64 [batch] to vectors [batch, layers, width].
  torch::Tensor forward(const torch::Tensor& task);

  torch::nn::Embedding task_embedding{nullptr};
  torch::nn::Linear projection{nullptr};
  torch::Tensor coefficients;  // [layers]: how strongly each layer is shifted
};
TORCH_MODULE(IcvEncoder);

}  // namespace models::multimodal
