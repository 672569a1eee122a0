// NVIDIA/TorchFort#86: one of the models of an agent is never moved.
#include <torch/torch.h>

struct CriticImpl : torch::nn::Module {
  CriticImpl() { fc = register_module("fc", torch::nn::Linear(8, 1)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Critic);

class SacAgent {
 public:
  explicit SacAgent(torch::Device device) : device_(device) {
    policy_->to(device_);
    critic_1_->to(device_);
    critic_2_->to(device_);
#ifdef FIXED
    alpha_->to(device_);
#endif
  }

  torch::Tensor loss(torch::Tensor state) {
    state = state.to(device_);
    auto q = torch::min(critic_1_->forward(state), critic_2_->forward(state));
    return (alpha_->forward(state) * policy_->forward(state) - q).mean();  // missed: unmoved-tensor
  }

 private:
  torch::Device device_;
  Critic policy_, critic_1_, critic_2_, alpha_;
};
