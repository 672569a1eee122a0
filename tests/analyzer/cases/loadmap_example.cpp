// ultralytics/ultralytics#16390: the module is loaded to where it was saved, then moved.
#include <torch/script.h>

#include <string>

torch::jit::Module load_detector(const std::string& path) {
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
#ifdef FIXED
  auto model = torch::jit::load(path, device);
#else
  auto model = torch::jit::load(path);  // missed: load-without-device
  model.to(device, torch::kFloat32);
#endif
  model.eval();
  return model;
}
