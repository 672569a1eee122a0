// A class that overrides to() and forgets one of its tensors.
#include <torch/torch.h>

class StandardizerImpl : public torch::nn::Module {
 public:
  explicit StandardizerImpl(int64_t n) : mean_(torch::zeros({n})), std_(torch::ones({n})) {
    fc_ = register_module("fc", torch::nn::Linear(n, n));
  }

  void to(torch::Device device, bool non_blocking = false) override {
    torch::nn::Module::to(device, non_blocking);
    mean_ = mean_.to(device);
#ifdef FIXED
    std_ = std_.to(device);
#endif
  }

  torch::Tensor forward(torch::Tensor x) { return fc_->forward((x - mean_) / std_); }

 private:
  torch::Tensor mean_;
  torch::Tensor std_;  // fault: unregistered-member
  torch::nn::Linear fc_{nullptr};
};
TORCH_MODULE(Standardizer);
