// dotnet/TorchSharp#845 in C++: a buffer that nobody registered.
#include <torch/torch.h>

struct NormImpl : torch::nn::Module {
  explicit NormImpl(int64_t channels)
      : proj(register_module("proj", torch::nn::Linear(channels, channels))) {}

  torch::Tensor forward(const torch::Tensor& x) { return proj->forward(x) * scale; }

  torch::nn::Linear proj;
#ifdef FIXED
  torch::Tensor scale = register_buffer("scale", torch::ones({4}));
#else
  torch::Tensor scale = torch::ones({4});  // fault: unregistered-member
#endif
};
TORCH_MODULE(Norm);

int main() {
  Norm norm(4);
  norm->to(torch::kCUDA);
}
