// nanoporetech/dorado bd39693b: a model with a device of its own empties the cache of the current
// one.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

class Caller {
 public:
  explicit Caller(const torch::TensorOptions& options) : options_(options) {}

  void warm_up(torch::nn::Linear& net) {
#ifdef FIXED
    c10::cuda::CUDAGuard guard(options_.device());
#endif
    auto input = torch::empty({64, 64}, options_);
    net->forward(input);
    c10::cuda::CUDACachingAllocator::emptyCache();  // missed: missing-device-guard
  }

 private:
  torch::TensorOptions options_;
};
