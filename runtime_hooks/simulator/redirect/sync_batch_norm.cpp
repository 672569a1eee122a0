// The operators under torch.nn.SyncBatchNorm: each rank takes the statistics of its share of the
// batch, ranks gather them, and each normalizes its share by the statistics of the whole batch.
// Formulas and types are those of PyTorch's aten/src/ATen/native/cuda/Normalization.cu and .cuh.
#include <ATen/AccumulateType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/var_mean.h>

#include <tuple>

#include "simulator/redirect/replacements.h"

namespace devsan::sim {
namespace {

using at::Tensor;
using MaybeTensor = std::optional<Tensor>;

bool given(const MaybeTensor& tensor) {
  return tensor.has_value() && tensor->defined();
}

// What CUDA's kernels compute in, and keep statistics in: float for half and bfloat16.
at::ScalarType statistics_type(at::ScalarType type) {
  return at::toAccumulateType(type, /*is_cuda=*/true);
}

// CUDA's kernels read memory by these types, so they refuse any other, in these words.
void expect_type(const Tensor& tensor, at::ScalarType type, const char* name) {
  TORCH_CHECK(tensor.scalar_type() == type, "Expected ", name, " to have type ", type, " but got ",
              tensor.scalar_type());
}

void expect_statistics(const Tensor& mean, const Tensor& inverse_std, at::ScalarType of) {
  expect_type(mean, statistics_type(of), "mean");
  expect_type(inverse_std, statistics_type(of), "invstd");
}

// As (batch, channel, everything else). An empty batch is refused here, as by CUDA's kernels, which
// begin with the same reshape; SyncBatchNorm does not call them on a rank that has no samples.
Tensor planes(const Tensor& tensor) {
  return tensor.reshape({tensor.size(0), tensor.size(1), -1})
      .to(statistics_type(tensor.scalar_type()));
}

// One value for each channel, shaped and typed to broadcast over the planes `x`.
Tensor over(const Tensor& x, const Tensor& values) {
  return values.to(x.scalar_type()).view({1, x.size(1), 1});
}

Tensor sum_of_channels(const Tensor& x) {
  return x.sum(at::IntArrayRef{0, 2});
}

std::tuple<Tensor, Tensor> stats(const Tensor& input, double epsilon) {
  auto [variance, mean] =
      at::var_mean(planes(input), at::IntArrayRef{0, 2}, /*unbiased=*/false, /*keepdim=*/false);
  Tensor inverse_std = (variance + epsilon).rsqrt();
  if (epsilon == 0) inverse_std.masked_fill_(variance == 0, 0);
  return {mean, inverse_std};
}

void move_running(const MaybeTensor& running, const Tensor& value, double momentum) {
  if (!given(running)) return;
  running->copy_((1 - momentum) * running->to(value.scalar_type()) + momentum * value);
}

at::ScalarType running_type(const Tensor& input, const MaybeTensor& running_mean) {
  return given(running_mean) ? running_mean->scalar_type() : input.scalar_type();
}

// `mean` and `inverse_std` are (rank, channel). The sum of squares around the common mean is, over
// the ranks, that around a rank's own mean and count times the square of the distance of the means.
std::tuple<Tensor, Tensor> gather_stats_with_counts(const Tensor& input, const Tensor& mean,
                                                    const Tensor& inverse_std,
                                                    const MaybeTensor& running_mean,
                                                    const MaybeTensor& running_var, double momentum,
                                                    double epsilon, const Tensor& counts) {
  const at::ScalarType type = running_type(input, running_mean);
  expect_statistics(mean, inverse_std, type);
  expect_type(counts, type, "counts");
  if (given(running_var)) expect_type(*running_var, type, "running_var");

  const Tensor count = counts.to(mean.scalar_type()).view({mean.size(0), 1});
  const Tensor total = count.sum();
  // Where no rank has a sample the mean is 0, not 0 / 0: it goes into the running one.
  const Tensor common_mean = (count * mean).sum(0) / total.clamp_min(1);
  const Tensor variance = inverse_std.pow(-2) - epsilon;
  const Tensor squares = (count * (variance + (mean - common_mean).square())).sum(0);
  move_running(running_mean, common_mean, momentum);
  move_running(running_var, squares / (total - 1), momentum);
  return {common_mean, (squares / total + epsilon).rsqrt()};
}

std::tuple<Tensor, Tensor> gather_stats(const Tensor& input, const Tensor& mean,
                                        const Tensor& inverse_std, const MaybeTensor& running_mean,
                                        const MaybeTensor& running_var, double momentum,
                                        double epsilon, std::int64_t count) {
  const Tensor counts =
      at::full({mean.size(0)}, count, mean.options().dtype(running_type(input, running_mean)));
  return gather_stats_with_counts(input, mean, inverse_std, running_mean, running_var, momentum,
                                  epsilon, counts);
}

// The epsilon has no use: it is in `inverse_std` already.
Tensor& elemt_out(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                  const Tensor& mean, const Tensor& inverse_std, double, Tensor& output) {
  expect_statistics(mean, inverse_std, input.scalar_type());
  expect_type(output, input.scalar_type(), "output");
  TORCH_CHECK(output.sizes() == input.sizes(), "Expected output to have the sizes of input, ",
              input.sizes(), ", but got ", output.sizes());
  const Tensor x = planes(input);
  Tensor result = (x - over(x, mean)) * over(x, inverse_std);
  if (given(weight)) result = result * over(x, *weight);
  if (given(bias)) result = result + over(x, *bias);
  return output.copy_(result.view(input.sizes()));
}

Tensor elemt(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
             const Tensor& mean, const Tensor& inverse_std, double epsilon) {
  Tensor output = at::empty_like(input, input.options(), input.suggest_memory_format());
  return elemt_out(input, weight, bias, mean, inverse_std, epsilon, output);
}

// This rank's share of the sums over the batch that backward_elemt needs, and its gradients of
// weight and bias.
std::tuple<Tensor, Tensor, Tensor, Tensor> backward_reduce(
    const Tensor& grad_output, const Tensor& input, const Tensor& mean, const Tensor& inverse_std,
    const MaybeTensor& weight, bool want_sums, bool want_weight, bool want_bias) {
  expect_statistics(mean, inverse_std, input.scalar_type());
  expect_type(grad_output, input.scalar_type(), "grad_output");
  TORCH_CHECK(given(weight) || (!want_weight && !want_bias),
              "gradients of weight and bias are asked for, but there is no weight");
  const Tensor x = planes(input);
  const Tensor grad = planes(grad_output);
  const Tensor sum_grad = sum_of_channels(grad);
  const Tensor sum_grad_centered = sum_of_channels(grad * (x - over(x, mean)));
  Tensor grad_weight;
  if (want_weight) grad_weight = (sum_grad_centered * inverse_std).to(weight->scalar_type());
  Tensor grad_bias;
  // A copy: results of an operator do not share memory.
  if (want_bias)
    grad_bias = sum_grad.to(weight->scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  if (!want_sums) return {Tensor(), Tensor(), grad_weight, grad_bias};
  return {sum_grad, sum_grad_centered, grad_weight, grad_bias};
}

// The sums are those of all ranks, and `counts` has how many values of a channel each rank has.
Tensor backward_elemt(const Tensor& grad_output, const Tensor& input, const Tensor& mean,
                      const Tensor& inverse_std, const MaybeTensor& weight, const Tensor& sum_grad,
                      const Tensor& sum_grad_centered, const Tensor& counts) {
  expect_statistics(mean, inverse_std, input.scalar_type());
  expect_type(grad_output, input.scalar_type(), "grad_output");
  expect_type(sum_grad, mean.scalar_type(), "sum_dy");
  expect_type(sum_grad_centered, mean.scalar_type(), "sum_dy_xmu");
  expect_type(counts, at::kInt, "count");
  const Tensor x = planes(input);
  const Tensor total = counts.sum();
  const Tensor projection = inverse_std.square() * sum_grad_centered / total;
  Tensor result =
      planes(grad_output) - over(x, sum_grad / total) - (x - over(x, mean)) * over(x, projection);
  result = result * over(x, inverse_std);
  if (given(weight)) result = result * over(x, *weight);
  return at::empty_like(input, input.options(), grad_output.suggest_memory_format())
      .copy_(result.view(input.sizes()));
}

}  // namespace

void add_sync_batch_norms(Replacements& list) {
  replace(list, "aten::batch_norm_stats", "", &stats);
  replace(list, "aten::batch_norm_gather_stats", "", &gather_stats);
  replace(list, "aten::batch_norm_gather_stats_with_counts", "", &gather_stats_with_counts);
  replace(list, "aten::batch_norm_elemt", "", &elemt);
  replace(list, "aten::batch_norm_elemt", "out", &elemt_out);
  replace(list, "aten::batch_norm_backward_reduce", "", &backward_reduce);
  replace(list, "aten::batch_norm_backward_elemt", "", &backward_elemt);
}

}  // namespace devsan::sim
