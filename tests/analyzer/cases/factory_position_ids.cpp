// Positions of a GPT are made in forward and looked up in an embedding.
#include <torch/torch.h>

struct GptOptions {
  int64_t vocabulary = 50257;
  int64_t context = 1024;
  int64_t width = 768;
};

struct GptEmbeddingImpl : torch::nn::Module {
  explicit GptEmbeddingImpl(const GptOptions& options) {
    token = register_module("token", torch::nn::Embedding(options.vocabulary, options.width));
    position = register_module("position", torch::nn::Embedding(options.context, options.width));
  }

  torch::Tensor forward(const torch::Tensor& ids) {
#ifdef FIXED
    auto positions = torch::arange(ids.size(1), ids.options());
#else
    auto positions = torch::arange(ids.size(1), torch::kLong);  // fault: factory-without-device
#endif
    return token->forward(ids) + position->forward(positions).unsqueeze(0);
  }

  torch::nn::Embedding token{nullptr};
  torch::nn::Embedding position{nullptr};
};
TORCH_MODULE(GptEmbedding);
