// A module of the program is restored from a checkpoint.
#include <torch/torch.h>

#include <string>

struct RegressorImpl : torch::nn::Module {
  RegressorImpl() { fc = register_module("fc", torch::nn::Linear(4, 1)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Regressor);

float predict(const std::string& path, torch::Tensor x, const c10::Device& device) {
  Regressor model;
#ifdef FIXED
  torch::load(model, path, device);
#else
  torch::load(model, path);  // fault: load-without-device
#endif
  model->eval();
  return model->forward(x.to(device)).item<float>();
}
