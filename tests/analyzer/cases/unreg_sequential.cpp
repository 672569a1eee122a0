// A Sequential is filled in the constructor and never registered.
#include <torch/torch.h>

namespace nn = torch::nn;

class DiscriminatorImpl : public nn::Module {
 public:
  explicit DiscriminatorImpl(int64_t features) {
    body_->push_back(nn::Conv2d(nn::Conv2dOptions(1, features, 4).stride(2).padding(1)));
    body_->push_back(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)));
    body_->push_back(nn::Conv2d(nn::Conv2dOptions(features, 1, 4)));
#ifdef FIXED
    register_module("body", body_);
#endif
    out_ = register_module("out", nn::Linear(1, 1));
  }

  torch::Tensor forward(torch::Tensor image) {
    return out_->forward(body_->forward(image).flatten(1));
  }

 private:
  nn::Sequential body_;  // fault: unregistered-member
  nn::Linear out_{nullptr};
};
TORCH_MODULE(Discriminator);
