// The heads of an attention, as a dimension of their own and side by side.
#pragma once

#include <torch/types.h>

namespace models {

// [batch, length, heads * head_width] to [batch, heads, length, head_width].
inline torch::Tensor split_heads(const torch::Tensor& projected, std::int64_t heads) {
  return projected.unflatten(-1, {heads, projected.size(-1) / heads}).transpose(1, 2);
}

// [batch, heads, length, head_width] to [batch, length, heads * head_width].
inline torch::Tensor join_heads(const torch::Tensor& split) {
  return split.transpose(1, 2).flatten(2);
}

}  // namespace models
