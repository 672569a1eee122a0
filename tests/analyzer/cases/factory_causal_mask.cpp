// A causal mask is made in each call.
#include <torch/torch.h>

#include <cmath>

namespace F = torch::nn::functional;

constexpr double kMasked = -1e9;

class CausalSelfAttentionImpl : public torch::nn::Module {
 public:
  CausalSelfAttentionImpl(int64_t width, int64_t heads) : heads_(heads) {
    qkv_ = register_module("qkv", torch::nn::Linear(width, 3 * width));
    out_ = register_module("out", torch::nn::Linear(width, width));
  }

  torch::Tensor forward(torch::Tensor x) {
    const auto batch = x.size(0), length = x.size(1), width = x.size(2);
    auto parts = qkv_->forward(x).chunk(3, 2);
    auto split = [&](const torch::Tensor& t) {
      return t.view({batch, length, heads_, width / heads_}).transpose(1, 2);
    };
    auto q = split(parts[0]), k = split(parts[1]), v = split(parts[2]);
    auto scores = torch::matmul(q, k.transpose(-2, -1)) / std::sqrt(double(width / heads_));
#ifdef FIXED
    auto mask = torch::full({length, length}, kMasked, x.options());
#else
    auto mask = torch::full({length, length}, kMasked);  // fault: factory-without-device
#endif
    scores = scores + torch::triu(mask, 1);
    auto y = torch::matmul(F::softmax(scores, F::SoftmaxFuncOptions(-1)), v);
    return out_->forward(y.transpose(1, 2).reshape({batch, length, width}));
  }

 private:
  int64_t heads_;
  torch::nn::Linear qkv_{nullptr};
  torch::nn::Linear out_{nullptr};
};
TORCH_MODULE(CausalSelfAttention);
