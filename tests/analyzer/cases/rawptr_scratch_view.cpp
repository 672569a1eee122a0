// pytorch/pytorch#49814: a pointer into a CUDA tensor is wrapped as if it were the host's.
#include <torch/torch.h>

#include <iostream>

void show(int64_t rows, torch::Device device) {
  TORCH_CHECK(device.is_cuda());
  auto storage = torch::randn({rows, 10}, torch::TensorOptions().device(device));
  float* data = storage.data_ptr<float>();
#ifdef FIXED
  auto view = torch::from_blob(data, {rows, 10}, storage.options());
#else
  auto view = torch::from_blob(data, {rows, 10});  // missed: raw-pointer-space
#endif
  std::cout << view << '\n';
}
