// The sine table of a transformer, made in the constructor.
#include <torch/torch.h>

#include <cmath>

using namespace torch::indexing;

class PositionalEncodingImpl : public torch::nn::Module {
 public:
  PositionalEncodingImpl(int64_t d_model, double dropout, int64_t max_len = 5000)
      : dropout_(register_module("dropout", torch::nn::Dropout(dropout))) {
    torch::Tensor position = torch::arange(0, max_len, torch::kFloat).unsqueeze(1);
    torch::Tensor div_term =
        torch::exp(torch::arange(0, d_model, 2, torch::kFloat) * (-std::log(10000.0) / d_model));
    pe_ = torch::zeros({max_len, d_model});
    pe_.index_put_({Slice(), Slice(0, None, 2)}, torch::sin(position * div_term));
    pe_.index_put_({Slice(), Slice(1, None, 2)}, torch::cos(position * div_term));
#ifdef FIXED
    pe_ = register_buffer("pe", pe_.unsqueeze(0));
#else
    pe_ = pe_.unsqueeze(0);
#endif
  }

  torch::Tensor forward(torch::Tensor x) {
    x = x + pe_.index({Slice(), Slice(None, x.size(1))});
    return dropout_->forward(x);
  }

 private:
  torch::nn::Dropout dropout_;
  torch::Tensor pe_;  // fault: unregistered-member
};
TORCH_MODULE(PositionalEncoding);
