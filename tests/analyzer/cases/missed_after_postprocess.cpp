// Boxes are brought to the host, and scaled by a tensor that stayed on the GPU.
#include <torch/torch.h>

torch::Tensor rescale(torch::nn::Linear& head, torch::Tensor features, float* ratios) {
  const torch::Device device(torch::kCUDA, 1);  // NOLINT(devsan-hard-coded-device)
  auto scale = torch::from_blob(ratios, {4}).to(device);
  auto boxes = head->forward(features).to(torch::kCPU);
#ifdef FIXED
  return boxes * scale.cpu();
#else
  return boxes * scale;  // fault: unmoved-tensor
#endif
}
