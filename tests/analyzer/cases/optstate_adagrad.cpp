// mlverse/torch#481 in C++: Adagrad makes its state when it is made.
#include <torch/torch.h>

int main() {
  torch::Device device(torch::kCUDA);
  torch::nn::Linear model(10, 1);
#ifdef FIXED
  model->to(device);
  torch::optim::Adagrad optimizer(model->parameters(), 0.01);
#else
  torch::optim::Adagrad optimizer(model->parameters(), 0.01);  // fault: optimizer-placement
  model->to(device);
#endif
  for (int step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    model->forward(torch::randn({4, 10}, device)).sum().backward();
    optimizer.step();
  }
}
