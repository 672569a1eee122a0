// One anchor table a level, in a vector of tensors.
#include <torch/torch.h>

#include <string>
#include <vector>

class PyramidImpl : public torch::nn::Module {
 public:
  PyramidImpl() {
    for (int level = 0; level < 3; ++level) {
      auto table = torch::full({3, 2}, 8.0 * (1 << level));
#ifdef FIXED
      tables_.push_back(register_buffer("table" + std::to_string(level), table));
#else
      tables_.push_back(table);
#endif
    }
    conv_ = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(32, 6, 1)));
  }

  std::vector<torch::Tensor> forward(std::vector<torch::Tensor> levels) {
    std::vector<torch::Tensor> out;
    for (size_t i = 0; i < levels.size(); ++i) {
      auto raw = conv_->forward(levels[i]).flatten(2).transpose(1, 2).reshape({-1, 3, 2});
      out.push_back(raw * tables_[i]);
    }
    return out;
  }

 private:
  std::vector<torch::Tensor> tables_;  // fault: unregistered-member
  torch::nn::Conv2d conv_{nullptr};
};
TORCH_MODULE(Pyramid);
