// State in a plain struct that the module holds.
#include <torch/torch.h>

struct Statistics {
  torch::Tensor mean = torch::zeros({3, 1, 1});
  torch::Tensor deviation = torch::ones({3, 1, 1});
  torch::Tensor operator()(const torch::Tensor& x) const { return (x - mean) / deviation; }
};

class BackboneImpl : public torch::nn::Module {
 public:
  BackboneImpl() {
    conv_ = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3)));
#ifdef FIXED
    register_buffer("mean", statistics_.mean);
    register_buffer("deviation", statistics_.deviation);
#endif
  }
#ifdef FIXED
  torch::Tensor forward(const torch::Tensor& x) {
    return conv_->forward((x - named_buffers()["mean"]) / named_buffers()["deviation"]);
  }
#else
  torch::Tensor forward(const torch::Tensor& x) { return conv_->forward(statistics_(x)); }
#endif

 private:
  Statistics statistics_;  // missed: unregistered-member
  torch::nn::Conv2d conv_{nullptr};
};
TORCH_MODULE(Backbone);
