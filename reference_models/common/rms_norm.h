// Root-mean-square normalisation: no mean is taken off, no bias added.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace models {

// weight * x / sqrt(mean(x²) + epsilon) over the last dimension, the mean in float32 whatever x is:
// in half precision the square of an ordinary activation overflows.
class RMSNormImpl : public torch::nn::Module {
 public:
  RMSNormImpl(std::int64_t width, double epsilon);
  // [..., width] to [..., width], in the type of the weight.
  torch::Tensor forward(const torch::Tensor& input);

  torch::Tensor weight;

 private:
  double epsilon_;
};
TORCH_MODULE(RMSNorm);

}  // namespace models
