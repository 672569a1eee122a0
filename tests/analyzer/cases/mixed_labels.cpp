// The labels follow the input's GPU, the logits come from another one.
#include <torch/torch.h>

torch::Tensor train_step(torch::nn::Sequential& lower, torch::nn::Sequential& upper,
                         torch::Tensor images, torch::Tensor labels) {
  const auto gpu0 = at::Device("cuda:0");  // NOLINT(devsan-hard-coded-device)
  const auto gpu1 = at::Device("cuda:1");  // NOLINT(devsan-hard-coded-device)
  lower->to(gpu0);
  upper->to(gpu1);
  images = images.to(gpu0);
  auto logits = upper->forward(lower->forward(images).to(gpu1));
#ifdef FIXED
  labels = labels.to(logits.device());
  return at::cross_entropy_loss(logits, labels);
#else
  labels = labels.to(gpu0);
  return at::cross_entropy_loss(logits, labels);  // fault: mixed-devices
#endif
}
