// A Cloneable registers in its constructor, where clone() does not come by.
#include <torch/torch.h>

#ifdef FIXED
class ScorerImpl : public torch::nn::Cloneable<ScorerImpl> {
 public:
  explicit ScorerImpl(int64_t width) : width_(width) { reset(); }
  void reset() override { fc_ = register_module("fc", torch::nn::Linear(width_, 1)); }
#else
class ScorerImpl : public torch::nn::Cloneable<ScorerImpl> {
 public:
  explicit ScorerImpl(int64_t width) : width_(width) {
    fc_ = register_module("fc", torch::nn::Linear(width_, 1));  // fault: replica-device
  }
  void reset() override {}
#endif
  torch::Tensor forward(torch::Tensor x) { return fc_->forward(x); }

 private:
  int64_t width_;
  torch::nn::Linear fc_{nullptr};
};
TORCH_MODULE(Scorer);
