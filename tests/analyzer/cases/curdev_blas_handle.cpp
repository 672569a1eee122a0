// A handle of cuBLAS belongs to the device that is current.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

void gemm(cublasHandle_t handle, const float* a, const float* b, float* c, int64_t m, int64_t n,
          int64_t k);

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.is_cuda() && b.is_cuda(), "expected CUDA tensors");
#ifdef FIXED
  const at::cuda::OptionalCUDAGuard device_guard(device_of(a));
#endif
  auto c = at::empty({a.size(0), b.size(1)}, a.options());
  auto handle = at::cuda::getCurrentCUDABlasHandle();  // fault: missing-device-guard
  gemm(handle, a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), a.size(0), b.size(1),
       a.size(1));
  return c;
}
