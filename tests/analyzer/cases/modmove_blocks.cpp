// Blocks of a ModuleList are moved one by one to the input.
#include <torch/torch.h>

#include <vector>

struct StackImpl : torch::nn::Module {
  explicit StackImpl(int64_t depth) {
    for (int64_t i = 0; i < depth; ++i) {
      blocks.push_back(register_module("block" + std::to_string(i), torch::nn::Linear(16, 16)));
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    for (auto& block : blocks) {
#ifdef FIXED
      x = block->forward(x.to(block->weight.device()));
#else
      block->to(x.device());  // fault: module-move-in-forward
      x = block->forward(x);
#endif
    }
    return x;
  }

  std::vector<torch::nn::Linear> blocks;
};
TORCH_MODULE(Stack);
