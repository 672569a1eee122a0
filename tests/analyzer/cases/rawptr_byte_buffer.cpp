// graphdeco-inria/gaussian-splatting#417: counts are cut out of a byte buffer on the GPU.
#include <torch/torch.h>

torch::Tensor contributions(int64_t height, int64_t width, int64_t offset, int gpu) {
  auto buffer = torch::empty({height * width * 4 + offset},
                             torch::TensorOptions().dtype(torch::kByte).device(torch::kCUDA, gpu));
  auto* base = buffer.contiguous().data_ptr<uint8_t>();
#ifdef FIXED
  auto counts = torch::from_blob(base + offset, {height, width}, buffer.options());
#else
  auto counts = torch::from_blob(base + offset, {height, width});  // fault: raw-pointer-space
#endif
  return counts.clone();
}
