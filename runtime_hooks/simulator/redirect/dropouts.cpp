// CUDA's fused dropouts, drawn from the engine of the op.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>

#include <tuple>

#include "simulator/redirect/random.h"
#include "simulator/redirect/replacements.h"

namespace devsan::sim {
namespace {

using at::Tensor;

// What is kept is scaled by 1 / (1 - p), so that the expectation stays.
double scale_of(double p) {
  return p == 1 ? 0 : 1 / (1 - p);
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          std::optional<bool> train) {
  if (input.numel() == 0) return {input, at::empty_like(input, input.options())};
  if (train.has_value() && !*train)
    return {input.clone(), at::ones_like(input, input.options().dtype(at::kBool))};
  const Tensor mask =
      at::empty_like(input, input.options().dtype(at::kBool)).bernoulli_(1 - p, current_engine());
  return {input * mask * scale_of(p), mask};
}

std::tuple<Tensor, Tensor> fused_dropout(const Tensor& input, double keep,
                                         const std::optional<at::Generator>& generator) {
  const Tensor mask =
      at::empty_like(input, input.options().dtype(at::kByte)).bernoulli_(keep, generator);
  return {input * mask * scale_of(1 - keep), mask};
}

Tensor masked_scale(const Tensor& input, const Tensor& mask, double scale) {
  return input * mask * scale;
}

}  // namespace

void add_dropouts(Replacements& list) {
  replace(list, "aten::native_dropout", "", &native_dropout);
  replace(list, "aten::_fused_dropout", "", &fused_dropout);
  replace(list, "aten::_masked_scale", "", &masked_scale);
}

}  // namespace devsan::sim
