// cuDNN's convolutions and CUDA's depthwise ones. Their backward is aten::convolution_backward,
// which has a CPU kernel.
#include <ATen/ops/add.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/relu.h>

#include "simulator/redirect/replacements.h"

namespace devsan::sim {
namespace {

using at::Tensor;
using c10::SymInt;
using c10::SymIntArrayRef;
using MaybeTensor = std::optional<Tensor>;

Tensor convolve(const Tensor& input, const Tensor& weight, const MaybeTensor& bias,
                SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef dilation,
                SymInt groups) {
  const std::vector<SymInt> no_output_padding(stride.size(), 0);
  return at::convolution_symint(input, weight, bias, stride, padding, dilation,
                                /*transposed=*/false, no_output_padding, std::move(groups));
}

Tensor cudnn_convolution(const Tensor& input, const Tensor& weight, SymIntArrayRef padding,
                         SymIntArrayRef stride, SymIntArrayRef dilation, SymInt groups, bool, bool,
                         bool) {
  return convolve(input, weight, std::nullopt, stride, padding, dilation, std::move(groups));
}

Tensor& cudnn_convolution_out(const Tensor& input, const Tensor& weight, SymIntArrayRef padding,
                              SymIntArrayRef stride, SymIntArrayRef dilation, SymInt groups, bool,
                              bool, bool, Tensor& out) {
  const Tensor result =
      convolve(input, weight, std::nullopt, stride, padding, dilation, std::move(groups));
  return out.resize_as_(result).copy_(result);
}

Tensor cudnn_convolution_transpose(const Tensor& input, const Tensor& weight,
                                   SymIntArrayRef padding, SymIntArrayRef output_padding,
                                   SymIntArrayRef stride, SymIntArrayRef dilation, SymInt groups,
                                   bool, bool, bool) {
  return at::convolution_symint(input, weight, std::nullopt, stride, padding, dilation,
                                /*transposed=*/true, output_padding, std::move(groups));
}

Tensor cudnn_convolution_relu(const Tensor& input, const Tensor& weight, const MaybeTensor& bias,
                              SymIntArrayRef stride, SymIntArrayRef padding,
                              SymIntArrayRef dilation, SymInt groups) {
  return at::relu(convolve(input, weight, bias, stride, padding, dilation, std::move(groups)));
}

Tensor cudnn_convolution_add_relu(const Tensor& input, const Tensor& weight, const Tensor& other,
                                  const std::optional<at::Scalar>& alpha, const MaybeTensor& bias,
                                  SymIntArrayRef stride, SymIntArrayRef padding,
                                  SymIntArrayRef dilation, SymInt groups) {
  const Tensor result = convolve(input, weight, bias, stride, padding, dilation, std::move(groups));
  return at::relu(at::add(result, other, alpha.value_or(1)));
}

Tensor conv_depthwise(const Tensor& input, const Tensor& weight, SymIntArrayRef,
                      const MaybeTensor& bias, SymIntArrayRef stride, SymIntArrayRef padding,
                      SymIntArrayRef dilation) {
  return convolve(input, weight, bias, stride, padding, dilation, input.size(1));
}

const Tensor& conv_depthwise2d_out(const Tensor& input, const Tensor& weight, SymIntArrayRef kernel,
                                   const MaybeTensor& bias, SymIntArrayRef stride,
                                   SymIntArrayRef padding, SymIntArrayRef dilation,
                                   const Tensor& out) {
  const Tensor result = conv_depthwise(input, weight, kernel, bias, stride, padding, dilation);
  return out.resize_as_(result).copy_(result);
}

}  // namespace

void add_convolutions(Replacements& list) {
  replace(list, "aten::cudnn_convolution", "", &cudnn_convolution);
  replace(list, "aten::cudnn_convolution", "out", &cudnn_convolution_out);
  replace(list, "aten::cudnn_convolution_transpose", "", &cudnn_convolution_transpose);
  replace(list, "aten::cudnn_convolution_relu", "", &cudnn_convolution_relu);
  replace(list, "aten::cudnn_convolution_add_relu", "", &cudnn_convolution_add_relu);
  replace(list, "aten::_conv_depthwise2d", "", &conv_depthwise);
  replace(list, "aten::_conv_depthwise2d", "out", &conv_depthwise2d_out);
  replace(list, "aten::conv_depthwise3d", "", &conv_depthwise);
}

}  // namespace devsan::sim
