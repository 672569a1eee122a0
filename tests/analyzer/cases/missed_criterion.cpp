// A loss module with weights, which nobody moves.
#include <torch/torch.h>

int main() {
  const torch::Device device("cuda");
  torch::nn::Linear net(16, 3);
  net->to(device);
  auto weights = torch::tensor({1.0f, 2.0f, 0.5f});
#ifdef FIXED
  weights = weights.to(device);
#endif
  torch::nn::CrossEntropyLoss criterion(torch::nn::CrossEntropyLossOptions().weight(weights));
  auto input = torch::randn({8, 16}, device);
  auto target = torch::randint(3, {8}, torch::TensorOptions(device).dtype(torch::kLong));
  auto loss = criterion(net(input), target);  // missed: unmoved-tensor
  loss.backward();
}
