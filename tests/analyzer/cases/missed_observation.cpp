// Reinforcement learning: the observation of an environment is a std::vector.
#include <torch/torch.h>

#include <memory>
#include <vector>

struct ActorImpl : torch::nn::Module {
  ActorImpl(int64_t in, int64_t out) { fc = register_module("fc", torch::nn::Linear(in, out)); }
  torch::Tensor forward(torch::Tensor x) { return torch::softmax(fc->forward(x), -1); }
  torch::nn::Linear fc{nullptr};
};

class Environment {
 public:
  std::vector<float> reset();
  std::vector<float> step(int64_t action);
};

void play(Environment& environment, bool use_cuda) {
  auto device = use_cuda ? torch::kCUDA : torch::kCPU;
  auto actor = std::make_shared<ActorImpl>(4, 2);
  actor->to(device);
  auto observation = environment.reset();
  for (int i = 0; i < 1000; ++i) {
    auto state = torch::tensor(observation, torch::kFloat).unsqueeze(0);
#ifdef FIXED
    auto action = actor->forward(state.to(device)).multinomial(1).item<int64_t>();
#else
    auto action = actor->forward(state).multinomial(1).item<int64_t>();  // fault: unmoved-tensor
#endif
    observation = environment.step(action);
  }
}
