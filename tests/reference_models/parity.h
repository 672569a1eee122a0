// What the programs share that are compared with other implementations: weights in, gradients out.
#pragma once

#include <torch/nn/module.h>

#include <map>
#include <string>

#include "common/usage_error.h"

namespace models {

using Tensors = std::map<std::string, torch::Tensor>;

// Every parameter must be among the weights, and each weight must be a parameter. Throws UsageError
// with the name of the first that is not.
inline void load_exactly(torch::nn::Module& model, Tensors weights) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model.named_parameters()) {
    auto weight = weights.extract(parameter.key());
    if (weight.empty() || weight.mapped().sizes() != parameter.value().sizes()) {
      throw UsageError("no weight of this name and shape: " + parameter.key());
    }
    parameter.value().copy_(weight.mapped());
  }
  if (!weights.empty()) throw UsageError("not a parameter: " + weights.begin()->first);
}

// Adds each gradient that there is as "gradient.<parameter>".
inline void add_gradients(const torch::nn::Module& model, Tensors& outputs) {
  for (const auto& parameter : model.named_parameters()) {
    const torch::Tensor gradient = parameter.value().grad();
    if (gradient.defined()) outputs.emplace("gradient." + parameter.key(), gradient);
  }
}

}  // namespace models
