// pytorch/pytorch#25761: the frame is "moved" in a statement, and stays where it was.
#include <torch/script.h>
#include <torch/torch.h>

#include <string>
#include <vector>

namespace vision {

struct Frame {
  int width = 0;
  int height = 0;
  std::vector<float> pixels;
};

class Classifier {
 public:
  Classifier(const std::string& path, torch::Device device)
      : device_(device), net_(torch::jit::load(path, device)) {}

  int64_t classify(Frame& frame) {
    auto image =
        torch::from_blob(frame.pixels.data(), {1, frame.height, frame.width, 3}, torch::kFloat32);
    image = image.permute({0, 3, 1, 2});
#ifdef FIXED
    image = image.to(device_);
#else
    image.to(device_);  // fault: dropped-move
#endif
    std::vector<torch::jit::IValue> inputs;
    inputs.emplace_back(image);
    return net_.forward(inputs).toTensor().argmax(1).item<int64_t>();
  }

 private:
  torch::Device device_;
  torch::jit::Module net_;
};

}  // namespace vision
