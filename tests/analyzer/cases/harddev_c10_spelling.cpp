// The same device in other spellings.
#include <torch/torch.h>

struct WindowImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor signal) {
#ifdef FIXED
    auto window = at::hann_window(400, signal.options());
    auto phase = at::zeros({1}, signal.options());
#else
    auto window =
        at::hann_window(400, at::device(c10::Device("cuda:0")));  // fault: hard-coded-device
    auto phase =
        at::zeros({1}, at::TensorOptions(at::kCUDA).dtype(at::kFloat));  // fault: hard-coded-device
#endif
    return signal * window + phase;
  }
};
