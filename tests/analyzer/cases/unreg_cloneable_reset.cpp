// A Cloneable makes its parts in reset(), and forgets one.
#include <torch/torch.h>

class AttentionImpl : public torch::nn::Cloneable<AttentionImpl> {
 public:
  AttentionImpl(int64_t width, int64_t length) : width_(width), length_(length) { reset(); }

  void reset() override {
    query_ = register_module("query", torch::nn::Linear(width_, width_));
    key_ = register_module("key", torch::nn::Linear(width_, width_));
#ifdef FIXED
    mask_ = register_buffer("mask", torch::ones({length_, length_}).tril());
#else
    mask_ = torch::ones({length_, length_}).tril();
#endif
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto scores = torch::matmul(query_->forward(x), key_->forward(x).transpose(1, 2));
    return torch::softmax(scores.masked_fill(mask_ == 0, -1e9), -1);
  }

 private:
  int64_t width_;
  int64_t length_;
  torch::nn::Linear query_{nullptr};
  torch::nn::Linear key_{nullptr};
  torch::Tensor mask_;  // fault: unregistered-member
};
TORCH_MODULE(Attention);
