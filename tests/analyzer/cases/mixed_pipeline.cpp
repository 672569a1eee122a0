// Two stages on two GPUs, and no hop between them.
#include <torch/torch.h>

int main() {
  torch::Device first{torch::kCUDA, 0};
  torch::Device second{torch::kCUDA, 1};
  torch::nn::Linear encoder(32, 32);
  torch::nn::Linear decoder(32, 32);
  encoder->to(first);
  decoder->to(second);
  auto x = torch::randn({8, 32}, torch::TensorOptions().device(first));
  auto hidden = torch::relu(encoder->forward(x));
#ifdef FIXED
  auto y = decoder->forward(hidden.to(second));
#else
  auto y = decoder->forward(hidden);  // fault: mixed-devices
#endif
  y.sum().backward();
}
