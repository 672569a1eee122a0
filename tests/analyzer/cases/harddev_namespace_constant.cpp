// Options in a constant of the namespace.
#include <torch/torch.h>

namespace nerf {

void place(torch::nn::Sequential& field, const torch::Device& device) {
  field->to(device);
}

#ifdef FIXED
torch::Tensor sample_along(const torch::Tensor& origins, const torch::Tensor& directions,
                           int64_t n) {
  auto t = torch::linspace(0.0, 1.0, n, origins.options());
#else
const auto kGpuFloat =
    c10::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA);  // fault: hard-coded-device

torch::Tensor sample_along(const torch::Tensor& origins, const torch::Tensor& directions,
                           int64_t n) {
  auto t = torch::linspace(0.0, 1.0, n, kGpuFloat);
#endif
  return origins.unsqueeze(1) + directions.unsqueeze(1) * t.view({1, n, 1});
}

}  // namespace nerf
