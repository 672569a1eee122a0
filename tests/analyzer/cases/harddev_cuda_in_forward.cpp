// .cuda() in a forward.
#include <torch/torch.h>

struct GateImpl : torch::nn::Module {
  explicit GateImpl(int64_t width) { fc = register_module("fc", torch::nn::Linear(width, width)); }

  torch::Tensor forward(torch::Tensor x, torch::Tensor context) {
#ifdef FIXED
    auto gate = torch::sigmoid(fc->forward(context.to(x.device())));
#else
    auto gate = torch::sigmoid(fc->forward(context.cuda()));  // fault: hard-coded-device
#endif
    return x * gate;
  }

  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Gate);
