// Recurrent networks. at::lstm and its kin reach cuDNN through function pointers rather than the
// dispatcher, and set up cuDNN descriptors on the way; here they go straight to aten::_cudnn_rnn,
// the operator that genuine runs show, which is computed by PyTorch's CPU networks.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/native/RNN.h>
#include <ATen/ops/_cudnn_rnn.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/rnn_relu.h>
#include <ATen/ops/rnn_tanh.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <cstring>
#include <tuple>

#include "simulator/redirect/random.h"
#include "simulator/redirect/replacements.h"

namespace devsan::sim {
namespace {

using at::Tensor;
using at::TensorList;
using c10::SymInt;
using c10::SymIntArrayRef;
using MaybeTensor = std::optional<Tensor>;

// cuDNN's numbers.
enum Mode : std::int64_t { kRelu = 0, kTanh = 1, kLstm = 2, kGru = 3 };

// A recurrent network as aten::_cudnn_rnn is given it.
struct Network {
  std::int64_t mode = kLstm;
  std::int64_t layers = 1;
  std::int64_t weights_per_layer =
      4;  // and direction: 4 with biases, 2 without, one more with a projection
  bool batch_first = false;
  bool bidirectional = false;
  double dropout = 0;  // between layers, while training
  Tensor batch_sizes;  // of a packed sequence, else undefined

  std::int64_t directions() const { return bidirectional ? 2 : 1; }
  bool has_biases() const { return weights_per_layer >= 4; }
};

struct Sequence {
  Tensor output;
  Tensor hidden;
  Tensor cell;  // of an LSTM
};

Sequence run_layer(const Network& net, const Tensor& input, TensorList weights,
                   const Tensor& hidden, const Tensor& cell) {
  const bool biases = net.has_biases();
  const bool packed = net.batch_sizes.defined();
  const bool both_ways = net.bidirectional;
  // One layer has no dropout of its own, so whether it trains makes no difference to it.
  constexpr double kNoDropout = 0;
  constexpr bool kTrain = false;
  if (net.mode == kLstm) {
    const std::vector<Tensor> state = {hidden, cell};
    auto [output, h, c] = packed ? at::lstm(input, net.batch_sizes, state, weights, biases, 1,
                                            kNoDropout, kTrain, both_ways)
                                 : at::lstm(input, state, weights, biases, 1, kNoDropout, kTrain,
                                            both_ways, net.batch_first);
    return {output, h, c};
  }
  const auto run = [&](auto&& plain, auto&& of_packed) -> Sequence {
    auto [output, h] = packed ? of_packed(input, net.batch_sizes, hidden, weights, biases, 1,
                                          kNoDropout, kTrain, both_ways)
                              : plain(input, hidden, weights, biases, 1, kNoDropout, kTrain,
                                      both_ways, net.batch_first);
    return {output, h, Tensor()};
  };
#define DEVSAN_RNN(name) \
  run([](auto&&... a) { return at::name(a...); }, [](auto&&... a) { return at::name(a...); })
  switch (net.mode) {
    case kGru:
      return DEVSAN_RNN(gru);
    case kTanh:
      return DEVSAN_RNN(rnn_tanh);
    default:
      return DEVSAN_RNN(rnn_relu);
  }
#undef DEVSAN_RNN
}

// Layer by layer, so that dropout draws from an engine that backward can make again from `seed`.
Sequence run_network(const Network& net, Tensor input, TensorList weights, const Tensor& hidden,
                     const Tensor& cell, std::uint64_t seed) {
  at::Generator engine = at::detail::createCPUGenerator(seed);
  const std::int64_t directions = net.directions();
  const auto weights_of_layer = static_cast<std::size_t>(net.weights_per_layer * directions);
  std::vector<Tensor> hiddens;
  std::vector<Tensor> cells;
  for (std::int64_t layer = 0; layer < net.layers; ++layer) {
    if (layer > 0 && net.dropout > 0) {
      const Tensor kept = at::empty_like(input).bernoulli_(1 - net.dropout, engine);
      input = input * kept * (net.dropout == 1 ? 0 : 1 / (1 - net.dropout));
    }
    const std::int64_t first = layer * directions;
    Sequence result = run_layer(
        net, input,
        weights.slice(static_cast<std::size_t>(layer) * weights_of_layer, weights_of_layer),
        hidden.narrow(0, first, directions),
        cell.defined() ? cell.narrow(0, first, directions) : cell);
    input = result.output;
    hiddens.push_back(result.hidden);
    cells.push_back(result.cell);
  }
  return {input, at::cat(hiddens), cell.defined() ? at::cat(cells) : Tensor()};
}

Tensor batch_sizes_tensor(SymIntArrayRef sizes) {
  if (sizes.empty()) return {};
  return at::tensor(c10::asIntArrayRefUnchecked(sizes), at::kLong);
}

// The reserve space carries the seed of the dropouts from forward to backward.
Tensor pack_seed(std::uint64_t seed, const Tensor& like) {
  Tensor reserve = at::empty({sizeof seed}, like.options().dtype(at::kByte));
  std::memcpy(reserve.mutable_data_ptr(), &seed, sizeof seed);
  return reserve;
}

std::uint64_t unpack_seed(const Tensor& reserve) {
  std::uint64_t seed = 0;
  std::memcpy(&seed, reserve.const_data_ptr(), sizeof seed);
  return seed;
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> cudnn_rnn(
    const Tensor& input, TensorList weights, std::int64_t weights_per_layer,
    const MaybeTensor& weight_buffer, const Tensor& hidden, const MaybeTensor& cell,
    std::int64_t mode, SymInt, SymInt, std::int64_t layers, bool batch_first, double dropout,
    bool train, bool bidirectional, SymIntArrayRef batch_sizes, const MaybeTensor&) {
  const Network net{mode,
                    layers,
                    weights_per_layer,
                    batch_first,
                    bidirectional,
                    train ? dropout : 0,
                    batch_sizes_tensor(batch_sizes)};
  const std::uint64_t seed = current_engine().defined() ? current_engine().current_seed() : 0;
  Sequence result = run_network(net, input, weights, hidden, cell.value_or(Tensor()), seed);
  if (!result.cell.defined()) result.cell = at::empty({0}, input.options());
  const Tensor buffer = weight_buffer.has_value() && weight_buffer->defined()
                            ? *weight_buffer
                            : at::empty({0}, input.options());
  return {result.output, result.hidden, result.cell, pack_seed(seed, input), buffer};
}

// Tensors that autograd follows from here on, cut off from what came before.
Tensor leaf(const Tensor& tensor) {
  return tensor.defined() ? tensor.detach().requires_grad_(true) : tensor;
}

Tensor or_zeros(const Tensor& gradient, const Tensor& like) {
  return gradient.defined() || !like.defined() ? gradient : at::zeros_like(like);
}

// Runs the network again under autograd and asks that for the gradients.
std::tuple<Tensor, Tensor, Tensor, std::vector<Tensor>> cudnn_rnn_backward(
    const Tensor& input, TensorList weights, std::int64_t weights_per_layer, const Tensor&,
    const Tensor& hidden, const MaybeTensor& cell, const Tensor&, const MaybeTensor& grad_output,
    const MaybeTensor& grad_hidden, const MaybeTensor& grad_cell, std::int64_t mode, SymInt, SymInt,
    std::int64_t layers, bool batch_first, double dropout, bool train, bool bidirectional,
    SymIntArrayRef batch_sizes, const MaybeTensor&, const Tensor& reserve, std::array<bool, 4>) {
  const Network net{mode,
                    layers,
                    weights_per_layer,
                    batch_first,
                    bidirectional,
                    train ? dropout : 0,
                    batch_sizes_tensor(batch_sizes)};
  // A kernel runs below autograd; this one needs it back.
  auto keys = c10::impl::tls_local_dispatch_key_set();
  keys.excluded_ = keys.excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView;
  const c10::impl::ForceDispatchKeyGuard with_autograd(keys);
  const at::AutoGradMode enabled(true);

  std::vector<Tensor> inputs = {leaf(input), leaf(hidden)};
  const Tensor cell_leaf = leaf(cell.value_or(Tensor()));
  if (cell_leaf.defined()) inputs.push_back(cell_leaf);
  std::vector<Tensor> weight_leaves;
  for (const Tensor& weight : weights) weight_leaves.push_back(leaf(weight));
  inputs.insert(inputs.end(), weight_leaves.begin(), weight_leaves.end());

  const Sequence result =
      run_network(net, inputs[0], weight_leaves, inputs[1], cell_leaf, unpack_seed(reserve));
  std::vector<Tensor> outputs;
  std::vector<Tensor> gradients;
  const auto follow = [&](const Tensor& output, const MaybeTensor& gradient) {
    if (!output.defined() || !gradient.has_value() || !gradient->defined()) return;
    outputs.push_back(output);
    gradients.push_back(*gradient);
  };
  follow(result.output, grad_output);
  follow(result.hidden, grad_hidden);
  follow(result.cell, grad_cell);
  std::vector<Tensor> found =
      torch::autograd::grad(outputs, inputs, gradients, /*retain_graph=*/false,
                            /*create_graph=*/false, /*allow_unused=*/true);
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = or_zeros(found[i], inputs[i]);
  const std::ptrdiff_t states = cell_leaf.defined() ? 3 : 2;
  return {found[0], found[1], cell_leaf.defined() ? found[2] : Tensor(),
          std::vector<Tensor>(found.begin() + states, found.end())};
}

// cuDNN wants all weights in one buffer and moves them there; nothing here does.
Tensor flatten_weight(TensorList weights, std::int64_t, SymInt, std::int64_t, SymInt, SymInt,
                      std::int64_t, bool, bool) {
  return at::empty({0}, weights[0].options());
}

// Calls the operator on CUDA tensors, where at::lstm would have called cuDNN.
std::tuple<Tensor, Tensor, Tensor> call_operator(const Tensor& input, const Tensor& batch_sizes,
                                                 const Tensor& hidden, const Tensor& cell,
                                                 TensorList weights, Mode mode, bool biases,
                                                 std::int64_t layers, double dropout, bool train,
                                                 bool bidirectional, bool batch_first) {
  const bool projected = cell.defined() && cell.size(2) != hidden.size(2);
  const std::int64_t weights_per_layer = (biases ? 4 : 2) + (projected ? 1 : 0);
  const std::int64_t hidden_size = cell.defined() ? cell.size(2) : hidden.size(2);
  std::vector<std::int64_t> sizes;
  if (batch_sizes.defined()) {
    sizes.assign(batch_sizes.const_data_ptr<std::int64_t>(),
                 batch_sizes.const_data_ptr<std::int64_t>() + batch_sizes.numel());
  }
  auto result =
      at::_cudnn_rnn(input, weights, weights_per_layer, /*weight_buf=*/{}, hidden, cell, mode,
                     hidden_size, projected ? hidden.size(2) : 0, layers, batch_first, dropout,
                     train, bidirectional, sizes, /*dropout_state=*/{});
  return {std::get<0>(result), std::get<1>(result), std::get<2>(result)};
}

void lstm(Tensor& output, Tensor& hy, Tensor& cy, const Tensor& input, TensorList state,
          TensorList weights, bool biases, std::int64_t layers, double dropout, bool train,
          bool bidirectional, bool batch_first) {
  std::tie(output, hy, cy) = call_operator(input, {}, state[0], state[1], weights, kLstm, biases,
                                           layers, dropout, train, bidirectional, batch_first);
}

void lstm_packed(Tensor& output, Tensor& hy, Tensor& cy, const Tensor& input,
                 const Tensor& batch_sizes, TensorList state, TensorList weights, bool biases,
                 std::int64_t layers, double dropout, bool train, bool bidirectional) {
  std::tie(output, hy, cy) = call_operator(input, batch_sizes, state[0], state[1], weights, kLstm,
                                           biases, layers, dropout, train, bidirectional, false);
}

template <Mode kMode>
void rnn(Tensor& output, Tensor& hy, const Tensor& input, const Tensor& hidden, TensorList weights,
         bool biases, std::int64_t layers, double dropout, bool train, bool bidirectional,
         bool batch_first) {
  std::tie(output, hy, std::ignore) =
      call_operator(input, {}, hidden, {}, weights, kMode, biases, layers, dropout, train,
                    bidirectional, batch_first);
}

template <Mode kMode>
void rnn_packed(Tensor& output, Tensor& hy, const Tensor& input, const Tensor& batch_sizes,
                const Tensor& hidden, TensorList weights, bool biases, std::int64_t layers,
                double dropout, bool train, bool bidirectional) {
  std::tie(output, hy, std::ignore) =
      call_operator(input, batch_sizes, hidden, {}, weights, kMode, biases, layers, dropout, train,
                    bidirectional, false);
}

}  // namespace

void add_recurrent(Replacements& list) {
  replace(list, "aten::_cudnn_rnn", "", &cudnn_rnn);
  replace(list, "aten::_cudnn_rnn_backward", "", &cudnn_rnn_backward);
  replace(list, "aten::_cudnn_rnn_flatten_weight", "", &flatten_weight);
}

void set_recurrent_stubs() {
  at::native::lstm_cudnn_stub.set_cuda_dispatch_ptr(&lstm);
  at::native::lstm_packed_cudnn_stub.set_cuda_dispatch_ptr(&lstm_packed);
  at::native::gru_cudnn_stub.set_cuda_dispatch_ptr(&rnn<kGru>);
  at::native::gru_packed_cudnn_stub.set_cuda_dispatch_ptr(&rnn_packed<kGru>);
  at::native::rnn_tanh_cudnn_stub.set_cuda_dispatch_ptr(&rnn<kTanh>);
  at::native::rnn_tanh_packed_cudnn_stub.set_cuda_dispatch_ptr(&rnn_packed<kTanh>);
  at::native::rnn_relu_cudnn_stub.set_cuda_dispatch_ptr(&rnn<kRelu>);
  at::native::rnn_relu_packed_cudnn_stub.set_cuda_dispatch_ptr(&rnn_packed<kRelu>);
}

}  // namespace devsan::sim
