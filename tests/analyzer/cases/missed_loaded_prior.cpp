// A tensor that is read from a file.
#include <torch/torch.h>

#include <string>

torch::Tensor posterior(const std::string& path, torch::Tensor likelihood, int gpu) {
  const auto device = torch::Device(torch::kCUDA, gpu);
  torch::Tensor prior;
#ifdef FIXED
  torch::load(prior, path, device);
#else
  prior = torch::zeros({16});
  (void)path;
#endif
  auto evidence = likelihood.to(device);
  return evidence * prior;  // fault: unmoved-tensor
}
