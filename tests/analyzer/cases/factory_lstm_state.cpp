// States of an LSTM are made in forward, and unpacked by std::tie.
#include <torch/torch.h>

#include <tuple>

class SentimentImpl : public torch::nn::Module {
 public:
  SentimentImpl(int64_t vocabulary, int64_t embedding, int64_t hidden)
      : hidden_(hidden),
        words_(torch::nn::EmbeddingOptions(vocabulary, embedding)),
        lstm_(torch::nn::LSTMOptions(embedding, hidden).num_layers(2).batch_first(true)),
        out_(hidden, 2) {
    register_module("words", words_);
    register_module("lstm", lstm_);
    register_module("out", out_);
  }

  torch::Tensor forward(torch::Tensor tokens) {
    auto embedded = words_->forward(tokens);
#ifdef FIXED
    auto h = torch::zeros({2, tokens.size(0), hidden_}, embedded.options());
    auto c = torch::zeros({2, tokens.size(0), hidden_}, embedded.options());
#else
    auto h = torch::zeros({2, tokens.size(0), hidden_});  // fault: factory-without-device
    auto c = torch::zeros({2, tokens.size(0), hidden_});  // missed: factory-without-device
#endif
    torch::Tensor output;
    std::tuple<torch::Tensor, torch::Tensor> state;
    std::tie(output, state) = lstm_->forward(embedded, std::make_tuple(h, c));
    std::tie(h, c) = state;
    return out_->forward(h[-1]);
  }

 private:
  int64_t hidden_;
  torch::nn::Embedding words_;
  torch::nn::LSTM lstm_;
  torch::nn::Linear out_;
};
TORCH_MODULE(Sentiment);
