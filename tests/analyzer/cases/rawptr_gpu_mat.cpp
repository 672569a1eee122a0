// pytorch/pytorch#19007: memory of another library, labelled with a device without an index.
#include <torch/torch.h>

namespace cv::cuda {
struct GpuMat {
  int rows = 0;
  int cols = 0;
  unsigned char* data = nullptr;
};
}  // namespace cv::cuda

namespace camera {

torch::Tensor wrap(const cv::cuda::GpuMat& mat, int gpu) {
  const auto keep = [](void*) {};
  auto options = torch::TensorOptions().dtype(torch::kByte);
#ifdef FIXED
  options = options.device(torch::kCUDA, gpu);
#else
  (void)gpu;
  options = options.device(torch::kCUDA);  // missed: hard-coded-device
#endif
  return torch::from_blob(mat.data, {mat.rows, mat.cols, 3}, keep, options);
}

}  // namespace camera
