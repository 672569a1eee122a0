// The model is moved in every step of the loop.
#include <torch/torch.h>

#include <vector>

void train(torch::nn::Sequential& model, const std::vector<torch::Tensor>& batches,
           torch::Device device) {
  torch::optim::SGD optimizer(model->parameters(), 0.01);
#ifdef FIXED
  model->to(device);
#endif
  for (const auto& batch : batches) {
#ifndef FIXED
    model->to(device);  // missed: module-move-in-forward
#endif
    optimizer.zero_grad();
    model->forward(batch.to(device)).mean().backward();
    optimizer.step();
  }
}
