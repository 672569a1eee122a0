// The labels of a batch stay on the CPU, the images do not.
#include <torch/torch.h>

#include <cstdio>

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(784, 10)); }
  torch::Tensor forward(torch::Tensor x) {
    return torch::log_softmax(fc->forward(x.flatten(1)), 1);
  }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

template <typename DataLoader>
double test(Net& model, torch::Device device, DataLoader& loader) {
  torch::NoGradGuard no_grad;
  model->eval();
  double total = 0;
  for (const auto& batch : loader) {
    auto data = batch.data.to(device);
#ifdef FIXED
    auto targets = batch.target.to(device);
#else
    auto targets = batch.target;
#endif
    auto output = model->forward(data);
    total += torch::nll_loss(output, targets).template item<double>();  // missed: unmoved-tensor
  }
  return total;
}

int main() {
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available()) device = torch::Device(torch::kCUDA);
  Net model;
  model->to(device);
  auto data = torch::data::datasets::MNIST("./data", torch::data::datasets::MNIST::Mode::kTest)
                  .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                  .map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(data), 1000);
  std::printf("%f\n", test(model, device, *loader));
}
