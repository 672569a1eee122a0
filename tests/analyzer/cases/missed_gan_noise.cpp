// The noise of a GAN is made without a device, the labels with one.
#include <torch/torch.h>

struct GeneratorImpl : torch::nn::Module {
  explicit GeneratorImpl(int64_t noise) {
    conv = register_module(
        "conv", torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(noise, 256, 4)));
    norm = register_module("norm", torch::nn::BatchNorm2d(256));
  }
  torch::Tensor forward(torch::Tensor x) { return torch::tanh(norm(conv(x))); }
  torch::nn::ConvTranspose2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
};
TORCH_MODULE(Generator);

constexpr int64_t kNoise = 100;

int main() {
  torch::Device device{torch::kCUDA, 1};
  Generator generator(kNoise);
  generator->to(device);
  for (int batch = 0; batch < 10; ++batch) {
    auto labels = torch::empty({64}, device).uniform_(0.8, 1.0);
#ifdef FIXED
    torch::Tensor noise = torch::randn({64, kNoise, 1, 1}, device);
    auto fake = generator->forward(noise);
#else
    torch::Tensor noise = torch::randn({64, kNoise, 1, 1});
    auto fake = generator->forward(noise);  // fault: unmoved-tensor
#endif
    auto loss = torch::binary_cross_entropy(fake.mean({1, 2, 3}), labels);
    loss.backward();
  }
}
