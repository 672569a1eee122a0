// Inputs of several kinds are moved in a loop over references.
#include <torch/torch.h>

#include <vector>

namespace asr {

struct Features {
  at::Tensor frames;
  at::Tensor lengths;
};

void to_device(std::vector<at::Tensor>& tensors, const c10::Device& device) {
  for (auto& tensor : tensors) {
#ifdef FIXED
    tensor = tensor.to(device, /*non_blocking=*/true);
#else
    tensor.to(device, /*non_blocking=*/true);  // fault: dropped-move
#endif
  }
}

void to_device(Features& features, const c10::Device& device) {
  features.frames = features.frames.to(device);
#ifdef FIXED
  features.lengths = features.lengths.to(device);
#else
  features.lengths.to(device);  // fault: dropped-move
#endif
}

}  // namespace asr
