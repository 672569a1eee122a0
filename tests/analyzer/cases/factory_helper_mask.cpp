// The mask comes from a helper of the same namespace.
#include <torch/torch.h>

namespace seq2seq {
namespace {

#ifdef FIXED
torch::Tensor subsequent_mask(int64_t size, torch::Device device) {
  return torch::tril(torch::ones({1, size, size}, device));
}
#else
torch::Tensor subsequent_mask(int64_t size) {
  return torch::tril(torch::ones({1, size, size}));
}
#endif

}  // namespace

class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(int64_t width) {
    fc_ = register_module("fc", torch::nn::Linear(width, width));
  }

  torch::Tensor forward(torch::Tensor target) {
    auto hidden = fc_->forward(target);
    auto scores = torch::bmm(hidden, hidden.transpose(1, 2));
#ifdef FIXED
    auto mask = subsequent_mask(target.size(1), target.device());
#else
    auto mask = subsequent_mask(target.size(1));  // fault: factory-without-device
#endif
    return scores.masked_fill(mask == 0, -1e9);
  }

 private:
  torch::nn::Linear fc_{nullptr};
};
TORCH_MODULE(Decoder);

}  // namespace seq2seq
