// openvdb/fvdb-core#94: a launch within AT_DISPATCH, on the default stream of the current device.
#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

namespace grid {

template <typename scalar_t>
__global__ void splat(const scalar_t* points, scalar_t* out, int64_t n) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] += points[i];
}

torch::Tensor splat_points(const torch::Tensor& points) {
  TORCH_CHECK(points.is_cuda(), "points must be on a GPU");
#ifdef FIXED
  const c10::cuda::CUDAGuard guard(points.device());
  auto stream = at::cuda::getCurrentCUDAStream(points.device().index());
#else
  auto stream = at::cuda::getDefaultCUDAStream();
#endif
  auto out = torch::zeros_like(points);
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "splat", [&] {  // fault: missing-device-guard
    splat<scalar_t><<<64, 256, 0, stream>>>(points.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(),
                                            points.numel());
  });
  return out;
}

}  // namespace grid
