// Replicas on several GPUs share a tensor of the first.
#include <torch/torch.h>

#include <memory>
#include <vector>

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override { fc = register_module("fc", torch::nn::Linear(8, 3)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};

std::vector<torch::Tensor> losses(NetImpl& net, const std::vector<torch::Device>& devices,
                                  torch::Tensor x, torch::Tensor labels,
                                  torch::Tensor class_weights) {
  std::vector<torch::Tensor> result;
  for (const auto& device : devices) {
    auto replica = std::dynamic_pointer_cast<NetImpl>(net.clone(device));
    auto logits = replica->forward(x.to(device));
    auto target = labels.to(device);
#ifdef FIXED
    result.push_back(torch::nll_loss(logits.log_softmax(1), target, class_weights.to(device)));
#else
    result.push_back(
        torch::nll_loss(logits.log_softmax(1), target, class_weights));  // missed: replica-device
#endif
  }
  return result;
}
