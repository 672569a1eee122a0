// Mean and deviation of ImageNet, written as torch::tensor({...}) in a method of the module.
#include <torch/torch.h>

class BackboneImpl : public torch::nn::Module {
 public:
  BackboneImpl() {
    stem_ = register_module("stem", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 64, 7)));
  }
  torch::Tensor forward(torch::Tensor image) { return stem_->forward(normalise(image)); }

 private:
  torch::Tensor normalise(torch::Tensor image) {
#ifdef FIXED
    auto mean = torch::tensor({0.485, 0.456, 0.406}, image.options()).view({1, 3, 1, 1});
    auto deviation = torch::tensor({0.229, 0.224, 0.225}, image.options()).view({1, 3, 1, 1});
#else
    auto mean =
        torch::tensor({0.485, 0.456, 0.406}).view({1, 3, 1, 1});  // fault: factory-without-device
    auto deviation =
        torch::tensor({0.229, 0.224, 0.225}).view({1, 3, 1, 1});  // fault: factory-without-device
#endif
    return (image - mean) / deviation;
  }

  torch::nn::Conv2d stem_{nullptr};
};
TORCH_MODULE(Backbone);
