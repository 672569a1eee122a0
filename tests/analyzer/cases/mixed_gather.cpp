// Results of two replicas are put together where neither is.
#include <torch/torch.h>

#include <vector>

int main() {
  auto model = std::make_shared<torch::nn::LinearImpl>(16, 4);
  model->to(torch::Device(torch::kCUDA, 0));
  auto copy = std::dynamic_pointer_cast<torch::nn::LinearImpl>(
      model->clone(torch::Device(torch::kCUDA, 1)));
  auto left = model->forward(torch::ones({2, 16}, torch::Device(torch::kCUDA, 0)));
  auto right = copy->forward(torch::ones({2, 16}, torch::Device(torch::kCUDA, 1)));
#ifdef FIXED
  auto all = torch::cat({left, right.to(left.device())}, 0);
#else
  auto all = torch::cat({left, right}, 0);  // fault: mixed-devices
#endif
  return static_cast<int>(all.size(0));
}
