// Replicas on several GPUs are all given the input of the first.
#include <torch/torch.h>

#include <memory>
#include <vector>

struct ScorerImpl : torch::nn::Cloneable<ScorerImpl> {
  ScorerImpl() { reset(); }
  void reset() override { fc = register_module("fc", torch::nn::Linear(8, 3)); }
  torch::Tensor forward(torch::Tensor x, torch::Tensor bias) { return fc->forward(x) + bias; }
  torch::nn::Linear fc{nullptr};
};

std::vector<torch::Tensor> scores(ScorerImpl& net, const std::vector<torch::Device>& devices,
                                  torch::Tensor x, torch::Tensor bias) {
  std::vector<torch::Tensor> result;
  for (const auto& device : devices) {
    auto replica = std::dynamic_pointer_cast<ScorerImpl>(net.clone(device));
#ifdef FIXED
    result.push_back(replica->forward(x.to(device), bias.to(device)));
#else
    result.push_back(replica->forward(x.to(device), bias));  // fault: replica-device
#endif
  }
  return result;
}
