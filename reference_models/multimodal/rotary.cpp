// The tables of cosines and sines, and the turn.
#include "rotary.h"

namespace models::multimodal {
namespace {

torch::Tensor rotate_half(const torch::Tensor& x) {
  const auto halves = x.chunk(2, -1);
  return torch::cat({-halves[1], halves[0]}, -1);
}

}  // namespace

RotaryEmbeddingImpl::RotaryEmbeddingImpl(std::int64_t head_width, std::int64_t positions) {
  constexpr double kBase = 10000;
  const torch::Tensor exponents =
      torch::arange(0, head_width, 2).to(torch::kFloat) / static_cast<double>(head_width);
  const torch::Tensor frequencies = 1.0 / torch::pow(kBase, exponents);
  const torch::Tensor half_angles =
      torch::outer(torch::arange(positions).to(torch::kFloat), frequencies);
  const torch::Tensor angles = torch::cat({half_angles, half_angles}, -1);
  cosines_ = register_buffer("cos_cached", angles.cos());
  sines_ = register_buffer("sin_cached", angles.sin());
}

std::pair<torch::Tensor, torch::Tensor> RotaryEmbeddingImpl::forward(
    const torch::Tensor& query, const torch::Tensor& key, const torch::Tensor& position_ids) {
  const torch::Tensor cosines = torch::embedding(cosines_, position_ids).unsqueeze(1);
  const torch::Tensor sines = torch::embedding(sines_, position_ids).unsqueeze(1);
  return {query * cosines + rotate_half(query) * sines, key * cosines + rotate_half(key) * sines};
}

}  // namespace models::multimodal
