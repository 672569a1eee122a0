// A function keeps its kernel in a static.
#include <torch/torch.h>

namespace image {

torch::Tensor sobel(const torch::Tensor& gray) {
  const auto options = gray.options();
#ifdef FIXED
  auto kernel = torch::tensor({-1.f, 0.f, 1.f, -2.f, 0.f, 2.f, -1.f, 0.f, 1.f}, options);
#else
  static auto kernel =  // fault: stale-device-cache
      torch::tensor({-1.f, 0.f, 1.f, -2.f, 0.f, 2.f, -1.f, 0.f, 1.f}, options);
#endif
  return torch::conv2d(gray, kernel.view({1, 1, 3, 3}));
}

}  // namespace image
