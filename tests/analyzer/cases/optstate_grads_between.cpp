// dotnet/TorchSharp#1191 in C++: the model travels while it has gradients.
#include <torch/torch.h>

#include <vector>

void federated_round(torch::nn::Linear& model, const std::vector<torch::Device>& devices,
                     const std::vector<torch::Tensor>& shards) {
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  for (size_t i = 0; i < devices.size(); ++i) {
    model->forward(shards[i].to(devices[i])).sum().backward();
#ifdef FIXED
    optimizer.step();
    optimizer.zero_grad();
    model->to(torch::kCPU);
#else
    model->to(torch::kCPU);  // fault: optimizer-placement
    optimizer.step();
#endif
  }
}
