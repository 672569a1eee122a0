// Tables made by a free function; layers registered in a helper method that forgets one.
#include <torch/torch.h>

namespace {

torch::Tensor make_anchors(int64_t height, int64_t width, double stride) {
  auto y = torch::arange(height, torch::kFloat) * stride;
  auto x = torch::arange(width, torch::kFloat) * stride;
  auto grid = torch::meshgrid({y, x}, "ij");
  return torch::stack({grid[1].flatten(), grid[0].flatten()}, 1);
}

}  // namespace

class DetectorImpl : public torch::nn::Module {
 public:
  DetectorImpl(int64_t classes, int64_t height, int64_t width) : classes_(classes) {
    build_layers();
#ifdef FIXED
    anchors_ = register_buffer("anchors", make_anchors(height, width, 8.0));
#else
    anchors_ = make_anchors(height, width, 8.0);
#endif
  }

  torch::Tensor forward(torch::Tensor features) {
    auto offsets = box_->forward(norm_->forward(features)).flatten(2).transpose(1, 2);
    return offsets + anchors_;
  }

 private:
  void build_layers() {
    box_ = register_module("box", torch::nn::Conv2d(torch::nn::Conv2dOptions(64, 2, 1)));
#ifdef FIXED
    norm_ = register_module("norm", torch::nn::BatchNorm2d(64));
#else
    norm_ = torch::nn::BatchNorm2d(64);
#endif
  }

  int64_t classes_;
  torch::nn::Conv2d box_{nullptr};
  torch::nn::BatchNorm2d norm_{nullptr};  // fault: unregistered-member
  torch::Tensor anchors_;                 // fault: unregistered-member
};
TORCH_MODULE(Detector);
