// YWL0720/YOLO_ORB_SLAM3#3: the image of a camera meets a module on the GPU.
#include <torch/script.h>

#include <string>
#include <vector>

namespace cv {
struct Mat {
  int rows = 0;
  int cols = 0;
  unsigned char* data = nullptr;
};
}  // namespace cv

class YoloDetection {
 public:
  explicit YoloDetection(const std::string& path) {
    module_ = torch::jit::load(path);
    module_.to(torch::kCUDA);
    module_.eval();
  }

  void detect(const cv::Mat& image) {
    auto tensor = torch::from_blob(image.data, {image.rows, image.cols, 3}, torch::kByte);
    tensor = tensor.permute({2, 0, 1}).toType(torch::kFloat).div(255).unsqueeze(0);
#ifdef FIXED
    boxes_ = module_.forward({tensor.to(torch::kCUDA)}).toTuple()->elements()[0].toTensor().cpu();
#else
    boxes_ = module_.forward({tensor}).toTuple()->elements()[0].toTensor().cpu();  // fault:
                                                                                   // unmoved-tensor
#endif
  }

 private:
  torch::jit::Module module_;
  torch::Tensor boxes_;
};
