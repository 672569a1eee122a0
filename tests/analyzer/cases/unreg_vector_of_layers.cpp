// Layers in a std::vector.
#include <torch/torch.h>

#include <string>
#include <vector>

struct MlpOptions {
  std::vector<int64_t> widths = {64, 128, 64};
};

struct MlpImpl : torch::nn::Module {
  explicit MlpImpl(const MlpOptions& options) {
    for (size_t i = 0; i + 1 < options.widths.size(); ++i) {
#ifdef FIXED
      layers.push_back(
          register_module("layer" + std::to_string(i),
                          torch::nn::Linear(options.widths[i], options.widths[i + 1])));
#else
      layers.push_back(torch::nn::Linear(options.widths[i], options.widths[i + 1]));
#endif
    }
    head = register_module("head", torch::nn::Linear(options.widths.back(), 2));
  }

  torch::Tensor forward(torch::Tensor x) {
    for (auto& layer : layers) x = torch::relu(layer->forward(x));
    return head->forward(x);
  }

  std::vector<torch::nn::Linear> layers;  // fault: unregistered-member
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Mlp);
