// princeton-vl/lietorch#38: kernels are launched on whatever device is current.
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

template <typename scalar_t>
__global__ void exp_kernel(const scalar_t* a, scalar_t* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = a[i] * a[i];
}

torch::Tensor exp_forward_gpu(torch::Tensor a) {
#ifdef FIXED
  const at::cuda::OptionalCUDAGuard guard(device_of(a));
#endif
  const int n = a.numel();
  torch::Tensor x = torch::empty_like(a);
  const float* in = a.data_ptr<float>();
  float* out = x.data_ptr<float>();
  exp_kernel<float><<<(n + 255) / 256, 256>>>(in, out, n);  // fault: missing-device-guard
  return x;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("exp_forward", &exp_forward_gpu);
}
