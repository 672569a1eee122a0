// A detection head builds its grid from two ranges.
#include <torch/torch.h>

#include <vector>

using namespace torch::indexing;

class YoloHeadImpl : public torch::nn::Module {
 public:
  YoloHeadImpl(int64_t channels, double stride) : stride_(stride) {
    conv_ = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, 4, 1)));
  }

  torch::Tensor forward(torch::Tensor x) {
    auto raw = conv_->forward(x).permute({0, 2, 3, 1}).contiguous();
    const auto rows = raw.size(1), columns = raw.size(2);
#ifdef FIXED
    auto options = raw.options();
#else
    auto options = torch::TensorOptions().dtype(torch::kFloat);
#endif
    auto y = torch::arange(rows, options);  // fault: factory-without-device
    auto x_range = torch::arange(columns, options);
    auto grid = torch::meshgrid({y, x_range}, "ij");
    auto cells = torch::stack({grid[1], grid[0]}, -1);
    auto centres =
        (raw.index({Slice(), Slice(), Slice(), Slice(0, 2)}).sigmoid() + cells) * stride_;
    return torch::cat({centres, raw.index({Slice(), Slice(), Slice(), Slice(2, 4)}).exp()}, -1);
  }

 private:
  double stride_;
  torch::nn::Conv2d conv_{nullptr};
};
TORCH_MODULE(YoloHead);
