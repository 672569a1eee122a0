// nanoporetech/dorado cd09c9a8: a worker takes its stream from the pool of the current device.
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/script.h>

#include <optional>
#include <vector>

class Worker {
 public:
  Worker(torch::jit::Module module, torch::Device device)
      : module_(std::move(module)), device_(device) {}

  void run(const std::vector<torch::Tensor>& batches) {
#ifdef FIXED
    c10::cuda::CUDAGuard guard(device_);
    c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(false);
#else
    c10::cuda::CUDAStream stream =
        c10::cuda::getStreamFromPool(false);  // fault: missing-device-guard
#endif
    c10::cuda::CUDAStreamGuard stream_guard(stream);
    for (const auto& batch : batches)
      results_.push_back(module_.forward({batch.to(device_)}).toTensor());
  }

 private:
  torch::jit::Module module_;
  torch::Device device_;
  std::vector<torch::Tensor> results_;
};
