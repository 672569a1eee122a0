// A default for a mask that the caller may leave out.
#include <torch/torch.h>

struct PoolingImpl : torch::nn::Module {
  explicit PoolingImpl(int64_t width) { key = register_module("key", torch::nn::Linear(width, 1)); }

  torch::Tensor forward(torch::Tensor x, torch::Tensor mask = {}) {
    if (!mask.defined()) {
#ifdef FIXED
      mask = torch::ones({x.size(0), x.size(1)}, x.options());
#else
      mask = torch::ones({x.size(0), x.size(1)});  // fault: factory-without-device
#endif
    }
    auto weight = key->forward(x).squeeze(-1) * mask;
    return torch::bmm(weight.softmax(1).unsqueeze(1), x).squeeze(1);
  }

  torch::nn::Linear key{nullptr};
};
TORCH_MODULE(Pooling);
