// A training loop in the manner of the MNIST example: the batch is "moved" in place.
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl()
      : fc1(register_module("fc1", torch::nn::Linear(784, 64))),
        fc2(register_module("fc2", torch::nn::Linear(64, 10))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(fc1->forward(x.view({-1, 784})));
    return torch::log_softmax(fc2->forward(x), 1);
  }
  torch::nn::Linear fc1, fc2;
};
TORCH_MODULE(Net);

template <typename Loader>
void train_epoch(Net& net, torch::Device device, Loader& loader,
                 torch::optim::Optimizer& optimizer) {
  net->train();
  for (auto& batch : loader) {
#ifdef FIXED
    auto data = batch.data.to(device);
    auto target = batch.target.to(device);
#else
    auto data = batch.data;
    auto target = batch.target;
    data.to(device);    // fault: dropped-move
    target.to(device);  // fault: dropped-move
#endif
    optimizer.zero_grad();
    auto loss = torch::nll_loss(net->forward(data), target);
    loss.backward();
    optimizer.step();
  }
}

int main() {
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Net net;
  net->to(device);
  auto dataset = torch::data::datasets::MNIST("./data").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(dataset), 64);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  for (int epoch = 0; epoch < 10; ++epoch) train_epoch(net, device, *loader, optimizer);
}
