// As much of LibTorch's CUDA context as the tests of CUDA files need.
#pragma once

typedef struct cublasContext* cublasHandle_t;

namespace at {
std::optional<Device> device_of(const Tensor&);
namespace cuda {
using namespace c10::cuda;
cublasHandle_t getCurrentCUDABlasHandle();
}  // namespace cuda
}  // namespace at
namespace c10::cuda {
CUDAStream getStreamFromPool(const bool high_priority = false, DeviceIndex device = -1);
struct CUDAStreamGuard {
  explicit CUDAStreamGuard(CUDAStream);
};
}  // namespace c10::cuda
