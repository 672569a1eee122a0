// First states of an LSTM, made once in the constructor.
#include <torch/torch.h>

#include <tuple>

struct TaggerImpl : torch::nn::Module {
  TaggerImpl(int64_t input, int64_t hidden, int64_t batch)
      : lstm(torch::nn::LSTMOptions(input, hidden).batch_first(true)), out(hidden, 5) {
    register_module("lstm", lstm);
    register_module("out", out);
#ifdef FIXED
    h0 = register_buffer("h0", torch::zeros({1, batch, hidden}));
    c0 = register_buffer("c0", torch::zeros({1, batch, hidden}));
#else
    h0 = torch::zeros({1, batch, hidden});
    c0 = torch::zeros({1, batch, hidden});
#endif
  }

  torch::Tensor forward(torch::Tensor x) {
    auto result = lstm->forward(x, std::make_tuple(h0, c0));
    return out->forward(std::get<0>(result));
  }

  torch::nn::LSTM lstm;
  torch::nn::Linear out;
  torch::Tensor h0;  // fault: unregistered-member
  torch::Tensor c0;  // fault: unregistered-member
};
TORCH_MODULE(Tagger);
