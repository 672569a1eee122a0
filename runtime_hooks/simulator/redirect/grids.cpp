// cuDNN's spatial transformers, and its choice of CTC loss, which is never taken here.
#include <ATen/ops/affine_grid_generator.h>
#include <ATen/ops/affine_grid_generator_backward.h>
#include <ATen/ops/grid_sampler_2d.h>
#include <ATen/ops/grid_sampler_2d_backward.h>

#include <tuple>

#include "simulator/redirect/replacements.h"

namespace devsan::sim {
namespace {

using at::Tensor;

// The only settings that cuDNN has.
constexpr std::int64_t kBilinear = 0;
constexpr std::int64_t kZeros = 0;
constexpr bool kAlignCorners = true;

Tensor grid_sampler(const Tensor& input, const Tensor& grid) {
  return at::grid_sampler_2d(input, grid, kBilinear, kZeros, kAlignCorners);
}

std::tuple<Tensor, Tensor> grid_sampler_backward(const Tensor& input, const Tensor& grid,
                                                 const Tensor& grad_output) {
  return at::grid_sampler_2d_backward(grad_output, input, grid, kBilinear, kZeros, kAlignCorners,
                                      {true, true});
}

Tensor affine_grid(const Tensor& theta, std::int64_t n, std::int64_t c, std::int64_t h,
                   std::int64_t w) {
  return at::affine_grid_generator(theta, {n, c, h, w}, kAlignCorners);
}

Tensor affine_grid_backward(const Tensor& grad, std::int64_t n, std::int64_t c, std::int64_t h,
                            std::int64_t w) {
  return at::affine_grid_generator_backward(grad, {n, c, h, w}, kAlignCorners);
}

bool use_cudnn_ctc_loss(const Tensor&, const Tensor&, at::IntArrayRef, at::IntArrayRef,
                        std::int64_t) {
  return false;
}

bool use_cudnn_ctc_loss_tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                               std::int64_t) {
  return false;
}

}  // namespace

void add_grids(Replacements& list) {
  replace(list, "aten::cudnn_grid_sampler", "", &grid_sampler);
  replace(list, "aten::cudnn_grid_sampler_backward", "", &grid_sampler_backward);
  replace(list, "aten::cudnn_affine_grid_generator", "", &affine_grid);
  replace(list, "aten::cudnn_affine_grid_generator_backward", "", &affine_grid_backward);
  replace(list, "aten::_use_cudnn_ctc_loss", "", &use_cudnn_ctc_loss);
  replace(list, "aten::_use_cudnn_ctc_loss", "Tensor", &use_cudnn_ctc_loss_tensor);
}

}  // namespace devsan::sim
