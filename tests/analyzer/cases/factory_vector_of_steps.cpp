// Outputs of a loop are collected, the first of them is made on the spot.
#include <torch/torch.h>

#include <vector>

struct RolloutImpl : torch::nn::Module {
  explicit RolloutImpl(int64_t width) {
    cell = register_module("cell", torch::nn::GRUCell(width, width));
  }

  torch::Tensor forward(torch::Tensor frames) {
#ifdef FIXED
    torch::Tensor hidden = torch::zeros({frames.size(1), frames.size(2)}, frames.options());
#else
    torch::Tensor hidden =
        torch::zeros({frames.size(1), frames.size(2)});  // fault: factory-without-device
#endif
    std::vector<torch::Tensor> steps;
    for (int64_t t = 0; t < frames.size(0); ++t) {
      hidden = cell->forward(frames[t], hidden);
      steps.push_back(hidden);
    }
    return torch::stack(steps);
  }

  torch::nn::GRUCell cell{nullptr};
};
TORCH_MODULE(Rollout);
