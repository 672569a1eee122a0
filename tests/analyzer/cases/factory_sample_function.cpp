// The same in a free function of a library.
#include <torch/torch.h>

namespace vae {

torch::Tensor reparameterize(const torch::Tensor& mu, const torch::Tensor& logvar) {
  auto deviation = (0.5 * logvar).exp();
#ifdef FIXED
  auto noise = torch::randn(deviation.sizes(), deviation.options());
#else
  auto noise = torch::randn(deviation.sizes());  // missed: factory-without-device
#endif
  return mu + noise * deviation;
}

void place(torch::nn::Sequential& encoder, const torch::Device& device) {
  encoder->to(device);
}

}  // namespace vae
