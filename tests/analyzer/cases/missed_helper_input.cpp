// The input is prepared by a function that another one calls.
#include <torch/script.h>

#include <vector>

namespace {

torch::Tensor to_tensor(std::vector<float>& samples) {
  auto tensor = torch::from_blob(samples.data(), {1, static_cast<int64_t>(samples.size())});
  return tensor.clone();
}

}  // namespace

torch::Tensor transcribe(torch::jit::Module& module, std::vector<float>& samples) {
  const torch::Device device(torch::kCUDA);  // NOLINT(devsan-hard-coded-device)
  module.to(device);
  auto input = to_tensor(samples);
#ifdef FIXED
  return module.forward({input.to(device)}).toTensor();
#else
  return module.forward({input}).toTensor();  // fault: unmoved-tensor
#endif
}
