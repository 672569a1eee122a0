// The encoder of T5 (Raffel et al. 2020) and T5 v1.1. Modules and parameters have the names of
// Hugging Face's T5EncoderModel, so its weights load by name.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <vector>

#include "common/lora.h"
#include "common/rms_norm.h"

namespace models {

enum class FeedForward {
  kRelu,       // T5: wo(relu(wi(x)))
  kGatedGelu,  // T5 v1.1: wo(gelu(wi_0(x)) * wi_1(x))
};

struct T5Config {
  std::int64_t vocabulary = 0;
  std::int64_t width = 64;       // d_model
  std::int64_t head_width = 16;  // d_kv
  std::int64_t heads = 4;
  std::int64_t inner_width = 128;  // d_ff
  std::int64_t layers = 4;
  FeedForward feed_forward = FeedForward::kGatedGelu;
  double dropout = 0.1;
  std::int64_t position_buckets = 32;
  std::int64_t max_distance = 128;
  double norm_epsilon = 1e-6;
};

// Buckets of relative positions (key - query), any shape: half of the buckets for each direction;
// of those, half for one distance each, the rest on a logarithmic scale up to max_distance and
// beyond.
torch::Tensor relative_position_bucket(const torch::Tensor& relative_position, std::int64_t buckets,
                                       std::int64_t max_distance);

class T5AttentionImpl : public torch::nn::Module {
 public:
  // Only the first block of an encoder has the table of relative positions.
  T5AttentionImpl(const T5Config& config, bool has_relative_attention_bias);

  // What each query thinks of the distance to each key: [1, heads, length, length].
  torch::Tensor compute_bias(std::int64_t length);

  // hidden [batch, length, width]; position_bias [batch, heads, length, length] is added to the
  // scores.
  torch::Tensor forward(const torch::Tensor& hidden, const torch::Tensor& position_bias);

  LoraLinear q{nullptr}, k{nullptr}, v{nullptr}, o{nullptr};
  torch::nn::Embedding relative_attention_bias{nullptr};

 private:
  T5Config config_;
  torch::nn::Dropout dropout_;
};
TORCH_MODULE(T5Attention);

class T5SelfAttentionLayerImpl : public torch::nn::Module {
 public:
  T5SelfAttentionLayerImpl(const T5Config& config, bool has_relative_attention_bias);
  torch::Tensor forward(const torch::Tensor& hidden, const torch::Tensor& position_bias);

  T5Attention self_attention{nullptr};
  RMSNorm layer_norm{nullptr};

 private:
  torch::nn::Dropout dropout_;
};
TORCH_MODULE(T5SelfAttentionLayer);

class T5DenseImpl : public torch::nn::Module {
 public:
  explicit T5DenseImpl(const T5Config& config);
  torch::Tensor forward(const torch::Tensor& hidden);

  torch::nn::Linear wi{nullptr};                   // relu
  torch::nn::Linear wi_0{nullptr}, wi_1{nullptr};  // gated-gelu
  torch::nn::Linear wo{nullptr};

 private:
  torch::nn::Dropout dropout_;
};
TORCH_MODULE(T5Dense);

class T5FeedForwardLayerImpl : public torch::nn::Module {
 public:
  explicit T5FeedForwardLayerImpl(const T5Config& config);
  torch::Tensor forward(const torch::Tensor& hidden);

  T5Dense dense{nullptr};
  RMSNorm layer_norm{nullptr};

 private:
  torch::nn::Dropout dropout_;
};
TORCH_MODULE(T5FeedForwardLayer);

class T5BlockImpl : public torch::nn::Module {
 public:
  T5BlockImpl(const T5Config& config, bool has_relative_attention_bias);
  torch::Tensor forward(const torch::Tensor& hidden, const torch::Tensor& position_bias);

  T5SelfAttentionLayer attention_layer{nullptr};
  T5FeedForwardLayer feed_forward_layer{nullptr};
};
TORCH_MODULE(T5Block);

struct EncoderOutput {
  torch::Tensor hidden;  // [batch, length, width]
  torch::Tensor mask;    // [batch, length], as it came but on the device of `hidden`
};

class T5EncoderImpl : public torch::nn::Module {
 public:
  explicit T5EncoderImpl(const T5Config& config);

  // embedded [batch, length, width]; mask [batch, length], true where there is a token. Each block
  // may be on a device of its own: activations are brought to it.
  EncoderOutput forward(const torch::Tensor& embedded, const torch::Tensor& mask);

  std::vector<T5Block> blocks;
  RMSNorm final_layer_norm{nullptr};

 private:
  torch::nn::Dropout dropout_;
};
TORCH_MODULE(T5Encoder);

}  // namespace models
