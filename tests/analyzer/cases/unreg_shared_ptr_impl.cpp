// Blocks held by shared_ptr, without TORCH_MODULE.
#include <torch/torch.h>

#include <memory>

struct Block : torch::nn::Module {
  explicit Block(int64_t channels)
      : conv(register_module(
            "conv",
            torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, channels, 3).padding(1)))) {}
  torch::Tensor forward(torch::Tensor x) { return torch::relu(conv->forward(x)) + x; }
  torch::nn::Conv2d conv;
};

class Tower : public torch::nn::Module {
 public:
  explicit Tower(int64_t channels) {
    first_ = register_module("first", std::make_shared<Block>(channels));
#ifdef FIXED
    second_ = register_module("second", std::make_shared<Block>(channels));
#else
    second_ = std::make_shared<Block>(channels);
#endif
  }

  torch::Tensor forward(torch::Tensor x) { return second_->forward(first_->forward(x)); }

 private:
  std::shared_ptr<Block> first_;
  std::shared_ptr<Block> second_;  // fault: unregistered-member
};
