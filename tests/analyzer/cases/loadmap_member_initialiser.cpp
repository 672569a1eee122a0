// A script module in the constructor's list, beside the device that it should be on.
#include <torch/script.h>

#include <string>

class Segmenter {
 public:
#ifdef FIXED
  Segmenter(const std::string& path, torch::Device device)
      : device_(device), module_(torch::jit::load(path, device)) {}
#else
  Segmenter(const std::string& path, torch::Device device)
      : device_(device), module_(torch::jit::load(path)) {}  // fault: load-without-device
#endif

  torch::Tensor run(torch::Tensor image) { return module_.forward({image.to(device_)}).toTensor(); }

 private:
  torch::Device device_;
  torch::jit::Module module_;
};
