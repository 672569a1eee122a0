// Parameters and rates of AdamW.
#include "optimisation.h"

#include <algorithm>

namespace models {

std::vector<torch::Tensor> trained_parameters(const torch::nn::Module& model) {
  std::vector<torch::Tensor> trained;
  for (const torch::Tensor& parameter : model.parameters()) {
    if (parameter.requires_grad()) trained.push_back(parameter);
  }
  return trained;
}

void set_learning_rate(torch::optim::AdamW& optimizer, double rate, std::int64_t step,
                       std::int64_t warmup_steps) {
  const double warm = static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  for (auto& group : optimizer.param_groups()) group.options().set_lr(rate * std::min(1.0, warm));
}

}  // namespace models
