// The normalisation, with its mean in float32.
#include "rms_norm.h"

namespace models {

RMSNormImpl::RMSNormImpl(std::int64_t width, double epsilon) : epsilon_(epsilon) {
  weight = register_parameter("weight", torch::ones({width}));
}

torch::Tensor RMSNormImpl::forward(const torch::Tensor& input) {
  const torch::Tensor variance = input.to(torch::kFloat).pow(2).mean(-1, /*keepdim=*/true);
  const torch::Tensor normalised = input * torch::rsqrt(variance + epsilon_);
  return weight * normalised.to(weight.scalar_type());
}

}  // namespace models
