// A pimpl holds the module by pointer.
#include <torch/script.h>

#include <memory>
#include <string>

class Engine {
 public:
  Engine(const std::string& path, const torch::Device& device);
  torch::Tensor infer(const torch::Tensor& x);
  ~Engine();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Engine::State {
  torch::Device device;
  torch::jit::Module module;
};

Engine::~Engine() = default;

Engine::Engine(const std::string& path, const torch::Device& device) {
#ifdef FIXED
  state_.reset(new State{device, torch::jit::load(path, device)});
#else
  state_.reset(new State{device, torch::jit::load(path)});  // fault: load-without-device
#endif
}

torch::Tensor Engine::infer(const torch::Tensor& x) {
  return state_->module.forward({x.to(state_->device)}).toTensor();
}
