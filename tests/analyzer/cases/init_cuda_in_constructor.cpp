// pytorch/pytorch#15702: a constructor wants a GPU without asking whether there is one.
#include <torch/torch.h>

class EdgeFilter {
 public:
#ifdef FIXED
  explicit EdgeFilter(torch::Device device) { kernel_ = kernel_.to(device); }
#else
  EdgeFilter() { kernel_ = kernel_.to(torch::kCUDA); }  // missed: hard-coded-device
#endif
  torch::Tensor apply(const torch::Tensor& image) const { return torch::conv2d(image, kernel_); }

 private:
  torch::Tensor kernel_ = torch::zeros({1, 1, 4, 4});
};
