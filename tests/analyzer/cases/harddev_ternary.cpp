// The kind of the device is asked for, and its index lost.
#include <torch/torch.h>

namespace ops {

torch::Tensor histogram(const torch::Tensor& values, int64_t bins) {
#ifdef FIXED
  auto counts = torch::zeros({bins}, torch::dtype(torch::kLong).device(values.device()));
#else
  auto device = values.is_cuda() ? torch::kCUDA : torch::kCPU;  // fault: hard-coded-device
  auto counts = torch::zeros({bins}, torch::dtype(torch::kLong).device(device));
#endif
  return counts.scatter_add(0, values, torch::ones_like(values));
}

}  // namespace ops
