// The same loop written out in main.
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(784, 10)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x.flatten(1)); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

int main() {
  const auto device =
      torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  Net net;
  net->to(device);
  auto data = torch::data::datasets::MNIST("./data").map(torch::data::transforms::Stack<>());
  auto loader =
      torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(data), 64);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto prediction = net->forward(batch.data.to(device));
#ifdef FIXED
    auto loss = torch::nn::functional::cross_entropy(prediction, batch.target.to(device));
#else
    auto loss =
        torch::nn::functional::cross_entropy(prediction, batch.target);  // fault: unmoved-tensor
#endif
    loss.backward();
    optimizer.step();
  }
}
