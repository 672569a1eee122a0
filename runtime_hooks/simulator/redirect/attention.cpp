// The fused attentions of CUDA (flash, memory-efficient, cuDNN). Without dropout they are the CPU's
// flash attention, so that results equal those of a run on the CPU; with dropout they are computed
// as written, the mask drawn from an engine whose seed travels in the op's philox outputs.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>

#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "simulator/redirect/random.h"
#include "simulator/redirect/replacements.h"

namespace devsan::sim {
namespace {

using at::Tensor;
using c10::SymInt;
using MaybeTensor = std::optional<Tensor>;
using MaybeScale = std::optional<double>;

// Tensors are (batch, heads, length, size of a head).
struct Attention {
  Tensor query;
  Tensor key;
  Tensor value;
  Tensor bias;  // added to the scores; may be undefined
  double dropout = 0;
  bool causal = false;
  MaybeScale scale;
  std::uint64_t seed = 0;

  double factor() const {
    return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  }
  MaybeTensor mask() const { return bias.defined() ? MaybeTensor(bias) : std::nullopt; }
  // Whether the CPU's flash attention takes it.
  bool simple() const {
    return dropout == 0 && query.size(-1) == value.size(-1) && query.size(1) == key.size(1) &&
           query.numel() != 0 && key.numel() != 0;
  }
};

struct Forward {
  Tensor output;
  Tensor logsumexp;  // (batch, heads, length)
};

struct Gradients {
  Tensor query;
  Tensor key;
  Tensor value;
  Tensor bias;
};

Tensor scores(const Attention& a) {
  Tensor result = at::matmul(a.query * a.factor(), a.key.transpose(-2, -1));
  if (a.bias.defined()) result = result + a.bias;
  if (!a.causal) return result;
  const Tensor visible =
      at::ones({a.query.size(-2), a.key.size(-2)}, a.query.options().dtype(at::kBool)).tril();
  return result.masked_fill(visible.logical_not(), -std::numeric_limits<double>::infinity());
}

// What each probability is multiplied by: 0, or 1 / (1 - p).
Tensor dropout_factors(const Attention& a, const Tensor& probabilities) {
  at::Generator engine = at::detail::createCPUGenerator(a.seed);
  return at::empty_like(probabilities).bernoulli_(1 - a.dropout, engine).div_(1 - a.dropout);
}

Forward forward(const Attention& a) {
  if (a.simple()) {
    auto [output, logsumexp] = at::_scaled_dot_product_flash_attention_for_cpu(
        a.query, a.key, a.value, 0, a.causal, a.mask(), a.scale);
    return {output, logsumexp};
  }
  const Tensor raw = scores(a);
  Tensor probabilities = raw.softmax(-1);
  if (a.dropout > 0) probabilities = probabilities * dropout_factors(a, probabilities);
  return {at::matmul(probabilities, a.value), at::logsumexp(raw, -1)};
}

Gradients backward(const Attention& a, const Tensor& grad_output, const Tensor& output,
                   const Tensor& logsumexp, bool bias_wanted) {
  if (a.simple() && !bias_wanted) {
    auto [query, key, value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        grad_output, a.query, a.key, a.value, output, logsumexp, 0, a.causal, a.mask(), a.scale);
    return {query, key, value, Tensor()};
  }
  const Tensor probabilities = scores(a).softmax(-1);
  Tensor used = probabilities;
  Tensor grad_probabilities = at::matmul(grad_output, a.value.transpose(-2, -1));
  if (a.dropout > 0) {
    const Tensor factors = dropout_factors(a, probabilities);
    used = probabilities * factors;
    grad_probabilities = grad_probabilities * factors;
  }
  const Tensor grad_scores =
      probabilities *
      (grad_probabilities - (grad_probabilities * probabilities).sum(-1, /*keepdim=*/true));
  return {at::matmul(grad_scores, a.key) * a.factor(),
          at::matmul(grad_scores.transpose(-2, -1), a.query) * a.factor(),
          at::matmul(used.transpose(-2, -1), grad_output), bias_wanted ? grad_scores : Tensor()};
}

std::uint64_t seed_of_op() {
  return current_engine().defined() ? current_engine().current_seed() : 0;
}

Tensor pack(std::uint64_t seed, const Tensor& like) {
  return at::scalar_tensor(static_cast<std::int64_t>(seed), like.options().dtype(at::kLong));
}

std::uint64_t unpack(const Tensor& seed) {
  return seed.defined() && seed.numel() != 0
             ? static_cast<std::uint64_t>(*seed.const_data_ptr<std::int64_t>())
             : 0;
}

Tensor nothing(const Tensor& like) {
  return at::empty({0}, like.options().dtype(at::kLong));
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient(const Tensor& query, const Tensor& key,
                                                     const Tensor& value, const MaybeTensor& bias,
                                                     bool, double dropout, bool causal,
                                                     MaybeScale scale) {
  const Attention a{query,   key,    value, bias.value_or(Tensor()),
                    dropout, causal, scale, seed_of_op()};
  const Forward result = forward(a);
  return {result.output, result.logsumexp, pack(a.seed, query), pack(0, query)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_backward(
    const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, const Tensor& output, const Tensor& logsumexp, const Tensor& seed,
    const Tensor&, double dropout, std::array<bool, 4> wanted, bool causal, MaybeScale scale) {
  if (!grad_output.defined()) return {};
  const Attention a{query, key, value, bias, dropout, causal, scale, unpack(seed)};
  const Gradients g = backward(a, grad_output, output, logsumexp, bias.defined() && wanted[3]);
  return {g.query, g.key, g.value, g.bias};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, SymInt, SymInt, Tensor, Tensor, Tensor> flash(
    const Tensor& query, const Tensor& key, const Tensor& value, double dropout, bool causal, bool,
    MaybeScale scale) {
  const Attention a{query, key, value, Tensor(), dropout, causal, scale, seed_of_op()};
  const Forward result = forward(a);
  return {result.output,       result.logsumexp, nothing(query),
          nothing(query),      query.size(2),    key.size(2),
          pack(a.seed, query), nothing(query),   at::empty({0}, query.options())};
}

std::tuple<Tensor, Tensor, Tensor> flash_backward(const Tensor& grad_output, const Tensor& query,
                                                  const Tensor& key, const Tensor& value,
                                                  const Tensor& output, const Tensor& logsumexp,
                                                  const Tensor&, const Tensor&, SymInt, SymInt,
                                                  double dropout, bool causal, const Tensor& seed,
                                                  const Tensor&, MaybeScale scale) {
  const Attention a{query, key, value, Tensor(), dropout, causal, scale, unpack(seed)};
  const Gradients g = backward(a, grad_output, output, logsumexp, false);
  return {g.query, g.key, g.value};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, SymInt, SymInt, Tensor, Tensor, Tensor> cudnn(
    const Tensor& query, const Tensor& key, const Tensor& value, const MaybeTensor& bias, bool,
    double dropout, bool causal, bool, MaybeScale scale) {
  const Attention a{query,   key,    value, bias.value_or(Tensor()),
                    dropout, causal, scale, seed_of_op()};
  const Forward result = forward(a);
  return {result.output,       result.logsumexp, nothing(query),
          nothing(query),      query.size(2),    key.size(2),
          pack(a.seed, query), pack(0, query),   at::empty({0}, query.options())};
}

std::tuple<Tensor, Tensor, Tensor> cudnn_backward(const Tensor& grad_output, const Tensor& query,
                                                  const Tensor& key, const Tensor& value,
                                                  const Tensor& output, const Tensor& logsumexp,
                                                  const Tensor& seed, const Tensor&,
                                                  const Tensor& bias, const Tensor&, const Tensor&,
                                                  SymInt, SymInt, double dropout, bool causal,
                                                  MaybeScale scale) {
  const Attention a{query, key, value, bias, dropout, causal, scale, unpack(seed)};
  const Gradients g = backward(a, grad_output, output, logsumexp, false);
  return {g.query, g.key, g.value};
}

}  // namespace

void add_attentions(Replacements& list) {
  replace(list, "aten::_scaled_dot_product_efficient_attention", "", &efficient);
  replace(list, "aten::_scaled_dot_product_efficient_attention_backward", "", &efficient_backward);
  replace(list, "aten::_scaled_dot_product_flash_attention", "", &flash);
  replace(list, "aten::_scaled_dot_product_flash_attention_backward", "", &flash_backward);
  replace(list, "aten::_scaled_dot_product_cudnn_attention", "", &cudnn);
  replace(list, "aten::_scaled_dot_product_cudnn_attention_backward", "", &cudnn_backward);
}

}  // namespace devsan::sim
