// Class weights inside the options of a loss function.
#include <torch/torch.h>

namespace F = torch::nn::functional;

struct SegmenterImpl : torch::nn::Module {
  SegmenterImpl() {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 2, 1)));
  }
  torch::Tensor forward(torch::Tensor image) { return conv->forward(image); }

  torch::Tensor loss(torch::Tensor image, torch::Tensor labels) {
    auto logits = forward(image);
#ifdef FIXED
    auto weight = torch::tensor({1.0, 4.0}, logits.options());
#else
    auto weight = torch::tensor({1.0, 4.0});  // fault: factory-without-device
#endif
    return F::cross_entropy(logits, labels, F::CrossEntropyFuncOptions().weight(weight));
  }

  torch::nn::Conv2d conv{nullptr};
};
TORCH_MODULE(Segmenter);
