// A class that knows its device names another.
#include <torch/script.h>

#include <string>
#include <vector>

class Embedder {
 public:
  Embedder(const std::string& path, int gpu)
      : device_(torch::kCUDA, gpu), module_(torch::jit::load(path, device_)) {}

  std::vector<float> embed(std::vector<int64_t> tokens) {
    auto ids =
        torch::from_blob(tokens.data(), {1, static_cast<int64_t>(tokens.size())}, torch::kLong);
#ifdef FIXED
    auto out = module_.forward({ids.to(device_)}).toTensor().cpu();
#else
    auto out =
        module_.forward({ids.to(torch::kCUDA)}).toTensor().cpu();  // fault: hard-coded-device
#endif
    return {out.data_ptr<float>(), out.data_ptr<float>() + out.numel()};
  }

 private:
  torch::Device device_;
  torch::jit::Module module_;
};
