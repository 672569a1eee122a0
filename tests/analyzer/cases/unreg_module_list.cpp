// A ModuleList that is read by index.
#include <torch/torch.h>

struct EncoderImpl : torch::nn::Module {
  EncoderImpl(int64_t depth, int64_t width) : depth_(depth) {
    for (int64_t i = 0; i < depth; ++i) blocks_->push_back(torch::nn::Linear(width, width));
    norm_ = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
#ifdef FIXED
    register_module("blocks", blocks_);
#endif
  }

  torch::Tensor forward(torch::Tensor x) {
    for (int64_t i = 0; i < depth_; ++i)
      x = torch::gelu(blocks_[i]->as<torch::nn::Linear>()->forward(x));
    return norm_->forward(x);
  }

  int64_t depth_;
  torch::nn::ModuleList blocks_;  // fault: unregistered-member
  torch::nn::LayerNorm norm_{nullptr};
};
TORCH_MODULE(Encoder);
