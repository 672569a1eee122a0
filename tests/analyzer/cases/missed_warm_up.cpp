// k2-fsa/sherpa#240: features and lengths are moved where they are decoded, not in the warm-up.
#include <torch/script.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asr {

class Stream {
 public:
  const torch::Tensor& features() const { return features_; }

 private:
  torch::Tensor features_;
};

class CtcModel {
 public:
  CtcModel(const std::string& path, torch::Device device)
      : module_(torch::jit::load(path, device)) {}
  torch::IValue forward(torch::Tensor features, torch::Tensor lengths) {
    return module_.run_method("forward", features, lengths);
  }
  void warm_up(torch::Tensor features, torch::Tensor lengths) { forward(features, lengths); }

 private:
  torch::jit::Module module_;
};

class Recognizer {
 public:
  Recognizer(const std::string& path, bool use_gpu) {
    if (use_gpu) device_ = torch::Device("cuda:0");  // NOLINT(devsan-hard-coded-device)
    model_ = std::make_unique<CtcModel>(path, device_);
    warm_up();
  }

  void decode(Stream* stream) {
    auto features = stream->features().to(device_);
    auto lengths = torch::tensor({features.size(0)}).to(device_);
    model_->forward(features.unsqueeze(0), lengths);
  }

 private:
  void warm_up() {
    auto features = torch::rand({1, 100, 80});
    auto lengths = torch::tensor({100});
#ifdef FIXED
    features = features.to(device_);
    lengths = lengths.to(device_);
    model_->warm_up(features, lengths);
#else
    model_->warm_up(features, lengths);  // missed: unmoved-tensor
#endif
  }

  torch::Device device_{torch::kCPU};
  std::unique_ptr<CtcModel> model_;
};

}  // namespace asr
