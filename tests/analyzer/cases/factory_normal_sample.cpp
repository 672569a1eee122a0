// dotnet/TorchSharp#618 in C++: noise on the CPU beside a mean on the GPU.
#include <torch/torch.h>

namespace distributions {

class Normal {
 public:
  Normal(torch::Tensor mean, torch::Tensor deviation)
      : mean_(std::move(mean)), deviation_(std::move(deviation)) {}

  torch::Tensor sample() const {
#ifdef FIXED
    auto noise = torch::randn(mean_.sizes(), mean_.options());
#else
    auto noise = torch::randn(mean_.sizes());  // missed: factory-without-device
#endif
    return mean_ + deviation_ * noise;
  }

 private:
  torch::Tensor mean_;
  torch::Tensor deviation_;
};

}  // namespace distributions

torch::Tensor act(torch::nn::Linear& policy, torch::Tensor observation, torch::Device device) {
  return distributions::Normal(policy->forward(observation.to(device)), torch::ones({1}, device))
      .sample();
}
