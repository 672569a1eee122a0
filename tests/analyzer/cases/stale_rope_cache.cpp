// Frequencies of a rotary embedding are kept by length alone.
#include <torch/torch.h>

class RotaryImpl : public torch::nn::Module {
 public:
  torch::Tensor forward(torch::Tensor x) {
    const auto length = x.size(1);
#ifdef FIXED
    if (!cos_.defined() || cos_.size(0) < length || cos_.device() != x.device()) {
      cos_ = torch::arange(length, x.options()).cos();
    }
#else
    if (!cos_.defined() || cos_.size(0) < length) {
      cos_ = torch::arange(length, x.options()).cos();  // fault: stale-device-cache
    }
#endif
    return x * cos_.slice(0, 0, length).view({1, length, 1});
  }

 private:
  torch::Tensor cos_;
};
