// Through a shared pointer, and at the end of a chain.
#include <torch/torch.h>

#include <memory>

struct Episode {
  torch::Tensor observations;
  torch::Tensor rewards;
};

float evaluate(const std::shared_ptr<Episode>& episode, torch::nn::Linear& critic,
               torch::Device device) {
  critic->to(device);
#ifdef FIXED
  auto observations = episode->observations.to(device).contiguous();
#else
  episode->observations.to(device).contiguous();  // fault: dropped-move
  auto observations = episode->observations;
#endif
  return critic->forward(observations).mean().item<float>();
}
