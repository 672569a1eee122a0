// CUDA's fused LSTM and GRU cells (LSTMCell, GRUCell), forward and backward.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>

#include <tuple>

#include "simulator/redirect/replacements.h"

namespace devsan::sim {
namespace {

using at::Tensor;
using MaybeTensor = std::optional<Tensor>;

Tensor with_bias(const Tensor& gates, const MaybeTensor& bias) {
  return bias.has_value() && bias->defined() ? gates + *bias : gates;
}

bool given(const MaybeTensor& tensor) {
  return tensor.has_value() && tensor->defined();
}

// Gates in the order input, forget, cell, output; the workspace holds them after their
// nonlinearity.
std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                                             const Tensor& cx, const MaybeTensor& input_bias,
                                             const MaybeTensor& hidden_bias) {
  const auto gates =
      (with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias)).chunk(4, 1);
  const Tensor input = gates[0].sigmoid();
  const Tensor forget = gates[1].sigmoid();
  const Tensor cell = gates[2].tanh();
  const Tensor output = gates[3].sigmoid();
  const Tensor cy = forget * cx + input * cell;
  return {output * cy.tanh(), cy, at::cat({input, forget, cell, output}, 1)};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(const MaybeTensor& grad_hy,
                                                      const MaybeTensor& grad_cy, const Tensor& cx,
                                                      const Tensor& cy, const Tensor& workspace,
                                                      bool has_bias) {
  if (!given(grad_hy) && !given(grad_cy)) return {};
  const auto gates = workspace.chunk(4, 1);
  const Tensor& input = gates[0];
  const Tensor& forget = gates[1];
  const Tensor& cell = gates[2];
  const Tensor& output = gates[3];
  const Tensor tanh_cy = cy.tanh();
  const Tensor grad_h = given(grad_hy) ? *grad_hy : at::zeros_like(cy);
  const Tensor grad_c =
      grad_h * output * (1 - tanh_cy * tanh_cy) + (given(grad_cy) ? *grad_cy : at::zeros_like(cy));
  const Tensor grad_gates =
      at::cat({grad_c * cell * input * (1 - input), grad_c * cx * forget * (1 - forget),
               grad_c * input * (1 - cell * cell), grad_h * tanh_cy * output * (1 - output)},
              1);
  return {grad_gates, grad_c * forget, has_bias ? grad_gates.sum(0) : Tensor()};
}

// Gates in the order reset, update, new. The workspace holds them after their nonlinearity, then
// the hidden state and the hidden part of the new gate.
std::tuple<Tensor, Tensor> gru_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                                    const Tensor& hx, const MaybeTensor& input_bias,
                                    const MaybeTensor& hidden_bias) {
  const auto from_input = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto from_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const Tensor reset = (from_input[0] + from_hidden[0]).sigmoid();
  const Tensor update = (from_input[1] + from_hidden[1]).sigmoid();
  const Tensor fresh = (from_input[2] + reset * from_hidden[2]).tanh();
  return {fresh + update * (hx - fresh), at::cat({reset, update, fresh, hx, from_hidden[2]}, 1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad_hy,
                                                                     const Tensor& workspace,
                                                                     bool has_bias) {
  const auto parts = workspace.chunk(5, 1);
  const Tensor& reset = parts[0];
  const Tensor& update = parts[1];
  const Tensor& fresh = parts[2];
  const Tensor& hx = parts[3];
  const Tensor& hidden_new = parts[4];
  const Tensor grad_new = grad_hy * (1 - update) * (1 - fresh * fresh);
  const Tensor grad_update = grad_hy * (hx - fresh) * update * (1 - update);
  const Tensor grad_reset = grad_new * hidden_new * reset * (1 - reset);
  const Tensor grad_input_gates = at::cat({grad_reset, grad_update, grad_new}, 1);
  const Tensor grad_hidden_gates = at::cat({grad_reset, grad_update, grad_new * reset}, 1);
  return {grad_input_gates, grad_hidden_gates, grad_hy * update,
          has_bias ? grad_input_gates.sum(0) : Tensor(),
          has_bias ? grad_hidden_gates.sum(0) : Tensor()};
}

}  // namespace

void add_recurrent_cells(Replacements& list) {
  replace(list, "aten::_thnn_fused_lstm_cell", "", &lstm_cell);
  replace(list, "aten::_thnn_fused_lstm_cell_backward_impl", "", &lstm_cell_backward);
  replace(list, "aten::_thnn_fused_gru_cell", "", &gru_cell);
  replace(list, "aten::_thnn_fused_gru_cell_backward", "", &gru_cell_backward);
}

}  // namespace devsan::sim
