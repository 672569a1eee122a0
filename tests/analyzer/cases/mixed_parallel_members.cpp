// A model that places its halves itself, in its constructor.
#include <torch/torch.h>

class TwoGpuNetImpl : public torch::nn::Module {
 public:
  TwoGpuNetImpl() {
    lower_ = register_module("lower", torch::nn::Linear(64, 64));
    upper_ = register_module("upper", torch::nn::Linear(64, 10));
    lower_->to(first_);
    upper_->to(second_);
  }

  torch::Tensor forward(torch::Tensor x) {
    auto hidden = torch::relu(lower_->forward(x.to(first_)));
#ifdef FIXED
    return upper_->forward(hidden.to(second_));
#else
    return upper_->forward(hidden);  // missed: mixed-devices
#endif
  }

 private:
  torch::Device first_{"cuda:0"};   // NOLINT(devsan-hard-coded-device)
  torch::Device second_{"cuda:1"};  // NOLINT(devsan-hard-coded-device)
  torch::nn::Linear lower_{nullptr};
  torch::nn::Linear upper_{nullptr};
};
TORCH_MODULE(TwoGpuNet);
