// The class in a header, its methods in a source file.
//--- policy_network.h
#pragma once
#include <torch/torch.h>

namespace rl {

class PolicyNetworkImpl : public torch::nn::Module {
 public:
  PolicyNetworkImpl(int64_t observations, int64_t actions);
  torch::Tensor forward(torch::Tensor observation);

 private:
  torch::nn::Linear body_{nullptr};
  torch::nn::Linear mean_{nullptr};
  torch::Tensor log_std_;  // fault: unregistered-member
};
TORCH_MODULE(PolicyNetwork);

}  // namespace rl
//--- policy_network.cpp
#include "policy_network.h"

namespace rl {

PolicyNetworkImpl::PolicyNetworkImpl(int64_t observations, int64_t actions) {
  body_ = register_module("body", torch::nn::Linear(observations, 64));
  mean_ = register_module("mean", torch::nn::Linear(64, actions));
#ifdef FIXED
  log_std_ = register_parameter("log_std", torch::zeros({actions}));
#else
  log_std_ = torch::zeros({actions}, torch::requires_grad());
#endif
}

torch::Tensor PolicyNetworkImpl::forward(torch::Tensor observation) {
  auto mean = mean_->forward(torch::tanh(body_->forward(observation)));
  return mean + log_std_.exp() * torch::randn_like(mean);
}

}  // namespace rl
