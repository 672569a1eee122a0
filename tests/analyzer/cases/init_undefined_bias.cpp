// pytorch/pytorch#30508: a bias that is not there is asked for its device.
#include <torch/torch.h>

torch::Tensor extend(torch::Tensor x) {
  auto options = torch::nn::LinearOptions(4, 4).bias(false);
  torch::nn::Linear layer(options);
#ifdef FIXED
  auto shift = torch::zeros({4}, layer->weight.options());
#else
  auto shift = torch::zeros({4}, layer->bias.options());  // missed: undefined-tensor
#endif
  return layer->forward(x) + shift;
}
