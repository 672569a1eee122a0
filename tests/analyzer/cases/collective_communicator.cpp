// NVIDIA/TorchFort#99: the communicator is made on the device that is current.
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#include <torch/torch.h>

namespace distributed {

class Comm {
 public:
  void initialize(torch::Device device) {
    device_ = device;
#ifdef FIXED
    c10::cuda::CUDAGuard guard(device_);
#endif
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);  // missed: missing-device-guard
    cudaEventCreateWithFlags(&event_, cudaEventDisableTiming);   // missed: missing-device-guard
  }

  torch::Tensor staging(int64_t n) const {
    return torch::empty({n}, torch::TensorOptions().device(device_));
  }

 private:
  torch::Device device_{torch::kCPU};
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

}  // namespace distributed
