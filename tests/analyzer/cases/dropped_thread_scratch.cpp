// nanoporetech/dorado cf8f9c07: scratch memory of a thread is "moved" to each caller's device.
#include <torch/torch.h>

void launch_scan(const float* in, float* scratch, int64_t n);

namespace basecall {

constexpr int64_t kScratch = 4096;

torch::Tensor scan(const torch::Tensor& signal) {
#ifdef FIXED
  torch::Tensor scratch = torch::empty({kScratch}, signal.options());
#else
  thread_local torch::Tensor scratch = torch::empty({kScratch});
  scratch.to(signal.device());  // fault: dropped-move
#endif
  launch_scan(signal.data_ptr<float>(), scratch.data_ptr<float>(), signal.numel());
  return signal;
}

}  // namespace basecall
