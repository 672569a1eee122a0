// nanoporetech/dorado 5043c7f3: a stream is asked for before the device is made current.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

void scaled_product(cudaStream_t stream, const void* a, const void* b, void* c, int m, int n,
                    int k);

namespace nn {

torch::Tensor linear(const torch::Tensor& input, const torch::Tensor& weight) {
#ifdef FIXED
  const c10::cuda::CUDAGuard guard(input.device());
  auto stream = at::cuda::getCurrentCUDAStream();
#else
  auto stream = at::cuda::getCurrentCUDAStream();  // fault: missing-device-guard
#endif
  auto output = torch::empty({input.size(0), weight.size(0)}, input.options());
  scaled_product(stream, input.data_ptr(), weight.data_ptr(), output.data_ptr(),
                 static_cast<int>(input.size(0)), static_cast<int>(weight.size(0)),
                 static_cast<int>(input.size(1)));
  return output;
}

}  // namespace nn
