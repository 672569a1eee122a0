// pytorch/pytorch#19540: a copy is trained, the optimizer owns the original.
#include <torch/torch.h>

#include <memory>

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override { fc = register_module("fc", torch::nn::Linear(8, 1)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};

void train(std::shared_ptr<NetImpl> net, torch::Tensor x, torch::Device device) {
#ifdef FIXED
  auto replica = std::dynamic_pointer_cast<NetImpl>(net->clone(device));
  torch::optim::Adam optimizer(replica->parameters());
#else
  torch::optim::Adam optimizer(net->parameters());
  auto replica = std::dynamic_pointer_cast<NetImpl>(net->clone(device));
#endif
  for (int step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    replica->forward(x.to(device)).sum().backward();  // missed: optimizer-placement
    optimizer.step();
  }
}
