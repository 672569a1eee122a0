// Host memory is labelled as memory of the GPU.
#include <torch/torch.h>

#include <vector>

torch::Tensor upload(std::vector<float>& samples, int gpu) {
  const auto count = static_cast<int64_t>(samples.size());
  const auto options = torch::TensorOptions().device(torch::kCUDA, gpu);
#ifdef FIXED
  return torch::from_blob(samples.data(), {count}).to(options);
#else
  return torch::from_blob(samples.data(), {count}, options);  // fault: raw-pointer-space
#endif
}
