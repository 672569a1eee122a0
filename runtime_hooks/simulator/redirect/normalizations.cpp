// cuDNN's batch normalization and the fused backward of RMS normalization.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/sum.h>

#include <array>
#include <numeric>
#include <tuple>

#include "simulator/redirect/replacements.h"

namespace devsan::sim {
namespace {

using at::Tensor;
using MaybeTensor = std::optional<Tensor>;

std::tuple<Tensor, Tensor, Tensor, Tensor> cudnn_batch_norm(
    const Tensor& input, const Tensor& weight, const MaybeTensor& bias,
    const MaybeTensor& running_mean, const MaybeTensor& running_var, bool training, double momentum,
    double epsilon) {
  auto [output, mean, inverse_std] = at::native_batch_norm(
      input, weight, bias, running_mean, running_var, training, momentum, epsilon);
  // The fourth result is cuDNN's scratch memory for its backward.
  return {output, mean, inverse_std, at::empty({0}, input.options().dtype(at::kByte))};
}

std::tuple<Tensor, Tensor, Tensor> cudnn_batch_norm_backward(
    const Tensor& input, const Tensor& grad_output, const Tensor& weight,
    const MaybeTensor& running_mean, const MaybeTensor& running_var, const MaybeTensor& saved_mean,
    const MaybeTensor& saved_inverse_std, double epsilon, const Tensor&) {
  return at::native_batch_norm_backward(grad_output, input, weight, running_mean, running_var,
                                        saved_mean, saved_inverse_std, /*train=*/true, epsilon,
                                        {true, true, true});
}

// y = x * r * w with r = 1 / sqrt(mean(x^2) + eps), the mean over the last dimensions.
std::tuple<Tensor, Tensor> fused_rms_norm_backward(const Tensor& grad_output, const Tensor& input,
                                                   at::IntArrayRef normalized_shape,
                                                   const Tensor& inverse_rms,
                                                   const MaybeTensor& weight,
                                                   std::array<bool, 2> wanted) {
  const auto inner_dims = static_cast<std::int64_t>(normalized_shape.size());
  const std::int64_t outer_dims = input.dim() - inner_dims;
  std::vector<std::int64_t> inner(static_cast<std::size_t>(inner_dims));
  std::vector<std::int64_t> outer(static_cast<std::size_t>(outer_dims));
  std::iota(inner.begin(), inner.end(), outer_dims);
  std::iota(outer.begin(), outer.end(), 0);
  const auto count = static_cast<double>(std::accumulate(
      normalized_shape.begin(), normalized_shape.end(), std::int64_t{1}, std::multiplies<>()));
  const bool weighted = weight.has_value() && weight->defined();

  const Tensor normalized = input * inverse_rms;
  Tensor grad_input;
  if (wanted[0]) {
    const Tensor grad_normalized = weighted ? grad_output * *weight : grad_output;
    const Tensor projection = (grad_normalized * normalized).sum(inner, /*keepdim=*/true) / count;
    grad_input =
        ((grad_normalized - normalized * projection) * inverse_rms).to(input.scalar_type());
  }
  Tensor grad_weight;
  if (wanted[1] && weighted) {
    const Tensor per_element = grad_output * normalized;
    grad_weight = (outer.empty() ? per_element : per_element.sum(outer)).to(weight->scalar_type());
  }
  return {grad_input, grad_weight};
}

}  // namespace

void add_normalizations(Replacements& list) {
  replace(list, "aten::cudnn_batch_norm", "", &cudnn_batch_norm);
  replace(list, "aten::cudnn_batch_norm_backward", "", &cudnn_batch_norm_backward);
  replace(list, "aten::_fused_rms_norm_backward", "", &fused_rms_norm_backward);
}

}  // namespace devsan::sim
