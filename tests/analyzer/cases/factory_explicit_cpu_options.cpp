// Options that spell the CPU out, in a module.
#include <torch/torch.h>

struct PromptImpl : torch::nn::Module {
  PromptImpl(int64_t width) {
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  }

  torch::Tensor forward(torch::Tensor tokens) {
#ifdef FIXED
    auto options = torch::dtype(torch::kFloat).device(tokens.device());
#else
    auto options = torch::dtype(torch::kFloat).device(torch::kCPU);
#endif
    auto padding = at::zeros({tokens.size(0), 4, tokens.size(2)}, options);
    return norm->forward(at::cat({padding, tokens}, 1));  // missed: factory-without-device
  }

  torch::nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(Prompt);
