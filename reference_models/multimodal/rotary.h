// Rotary position embeddings (Su et al. 2021), as LLaMA pairs the halves of a head.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <utility>

namespace models::multimodal {

class RotaryEmbeddingImpl : public torch::nn::Module {
 public:
  // `head_width` is even. Tables for `positions` positions.
  RotaryEmbeddingImpl(std::int64_t head_width, std::int64_t positions);

  // Turns each pair (i, i + head_width / 2) of a head by position · 10000^(-2i / head_width).
  // query and key are [batch, heads, length, head_width], position_ids [batch, length].
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& query,
                                                  const torch::Tensor& key,
                                                  const torch::Tensor& position_ids);

 private:
  torch::Tensor cosines_, sines_;  // [positions, head_width]
};
TORCH_MODULE(RotaryEmbedding);

}  // namespace models::multimodal
