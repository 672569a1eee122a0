// A loss is summed over GPUs.
#include <torch/torch.h>

int main() {
  auto on = [](int index) {
    return torch::TensorOptions().dtype(torch::kFloat).device(torch::kCUDA, index);
  };
  const auto options0 = torch::TensorOptions().device(torch::kCUDA, 0);
  const auto options1 = torch::TensorOptions().device(torch::kCUDA, 1);
  auto total = torch::zeros({4}, options0);
  auto part = torch::rand({4}, options1);
#ifdef FIXED
  total += part.to(total.device());
#else
  total += part;  // fault: mixed-devices
#endif
  return on(0).has_device() && total.defined() ? 0 : 1;
}
