// Inputs gathered in a struct; one of its fields is forgotten.
#include <torch/torch.h>

#include <vector>

struct Sample {
  torch::Tensor image;
  torch::Tensor box;
};

int main() {
  torch::Device device(torch::kCUDA);
  torch::nn::Conv2d net(torch::nn::Conv2dOptions(3, 4, 3));
  net->to(device);
  std::vector<float> pixels(3 * 32 * 32);
  Sample sample;
  sample.image = torch::from_blob(pixels.data(), {1, 3, 32, 32}).to(device);
  sample.box = torch::tensor({{0.f, 0.f, 8.f, 8.f}});
#ifdef FIXED
  sample.box = sample.box.to(device);
#endif
  auto boxes = net->forward(sample.image).mean({2, 3});
  auto loss = torch::mse_loss(boxes, sample.box);  // fault: unmoved-tensor
  loss.backward();
}
