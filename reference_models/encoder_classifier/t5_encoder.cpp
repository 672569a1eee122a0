// The encoder's layers, inside out: attention, feed-forward, block, stack.
#include "t5_encoder.h"

#include <torch/nn/init.h>

#include <cmath>
#include <limits>

#include "common/dispatch.h"
#include "common/heads.h"

namespace models {
namespace {

torch::nn::Linear linear(std::int64_t in_features, std::int64_t out_features) {
  return torch::nn::Linear(torch::nn::LinearOptions(in_features, out_features).bias(false));
}

// Normal with the deviation that keeps the variance of a sum over `fan_in` terms.
void initialise(torch::Tensor& weight, std::int64_t fan_in) {
  torch::nn::init::normal_(weight, 0.0, 1.0 / std::sqrt(static_cast<double>(fan_in)));
}

}  // namespace

torch::Tensor relative_position_bucket(const torch::Tensor& relative_position, std::int64_t buckets,
                                       std::int64_t max_distance) {
  const std::int64_t per_direction = buckets / 2;
  const std::int64_t exact = per_direction / 2;
  const torch::Tensor direction = (relative_position > 0).to(torch::kLong) * per_direction;
  const torch::Tensor distance = relative_position.abs();

  const double log_range = std::log(static_cast<double>(max_distance) / static_cast<double>(exact));
  const torch::Tensor fraction =
      torch::log(distance.to(torch::kFloat) / static_cast<double>(exact)) / log_range;
  // A distance of 0 has no logarithm: clamped here, and not chosen below.
  const torch::Tensor coarse =
      (exact +
       (fraction.clamp_min(0) * static_cast<double>(per_direction - exact)).to(torch::kLong))
          .clamp_max(per_direction - 1);
  return direction + torch::where(distance < exact, distance, coarse);
}

T5AttentionImpl::T5AttentionImpl(const T5Config& config, bool has_relative_attention_bias)
    : config_(config), dropout_(config.dropout) {
  const std::int64_t all_heads = config.heads * config.head_width;
  q = register_module("q", LoraLinear(config.width, all_heads));
  k = register_module("k", LoraLinear(config.width, all_heads));
  v = register_module("v", LoraLinear(config.width, all_heads));
  o = register_module("o", LoraLinear(all_heads, config.width));
  // T5 does not divide the scores by sqrt(head_width); the queries' first weights do.
  initialise(q->weight, config.width * config.head_width);
  initialise(k->weight, config.width);
  initialise(v->weight, config.width);
  initialise(o->weight, all_heads);
  if (has_relative_attention_bias) {
    relative_attention_bias = register_module(
        "relative_attention_bias", torch::nn::Embedding(config.position_buckets, config.heads));
    initialise(relative_attention_bias->weight, config.width);
  }
  register_module("dropout", dropout_);
}

torch::Tensor T5AttentionImpl::compute_bias(std::int64_t length) {
  const torch::Tensor positions =
      torch::arange(length, relative_attention_bias->weight.options().dtype(torch::kLong));
  const torch::Tensor relative_position = positions.unsqueeze(0) - positions.unsqueeze(1);
  const torch::Tensor buckets =
      relative_position_bucket(relative_position, config_.position_buckets, config_.max_distance);
  const torch::Tensor bias = relative_attention_bias->forward(buckets);  // [length, length, heads]
  return bias.permute({2, 0, 1}).unsqueeze(0);
}

torch::Tensor T5AttentionImpl::forward(const torch::Tensor& hidden,
                                       const torch::Tensor& position_bias) {
  const torch::Tensor query = split_heads(q->forward(hidden), config_.heads);
  const torch::Tensor key = split_heads(k->forward(hidden), config_.heads);
  const torch::Tensor value = split_heads(v->forward(hidden), config_.heads);

  const torch::Tensor scores = torch::matmul(query, key.transpose(2, 3)) + position_bias;
  const torch::Tensor weights = dropout_->forward(torch::softmax(scores, -1));
  const torch::Tensor context = torch::matmul(weights, value);

  return o->forward(join_heads(context));
}

T5SelfAttentionLayerImpl::T5SelfAttentionLayerImpl(const T5Config& config,
                                                   bool has_relative_attention_bias)
    : dropout_(config.dropout) {
  self_attention =
      register_module("SelfAttention", T5Attention(config, has_relative_attention_bias));
  layer_norm = register_module("layer_norm", RMSNorm(config.width, config.norm_epsilon));
  register_module("dropout", dropout_);
}

torch::Tensor T5SelfAttentionLayerImpl::forward(const torch::Tensor& hidden,
                                                const torch::Tensor& position_bias) {
  const torch::Tensor normalised = layer_norm->forward(hidden);
  const torch::Tensor attended = self_attention->forward(normalised, position_bias);
  return hidden + dropout_->forward(attended);
}

T5DenseImpl::T5DenseImpl(const T5Config& config) : dropout_(config.dropout) {
  if (config.feed_forward == FeedForward::kRelu) {
    wi = register_module("wi", linear(config.width, config.inner_width));
    initialise(wi->weight, config.width);
  } else {
    wi_0 = register_module("wi_0", linear(config.width, config.inner_width));
    wi_1 = register_module("wi_1", linear(config.width, config.inner_width));
    initialise(wi_0->weight, config.width);
    initialise(wi_1->weight, config.width);
  }
  wo = register_module("wo", linear(config.inner_width, config.width));
  initialise(wo->weight, config.inner_width);
  register_module("dropout", dropout_);
}

torch::Tensor T5DenseImpl::forward(const torch::Tensor& hidden) {
  torch::Tensor inner;
  if (wi) {
    inner = torch::relu(wi->forward(hidden));
  } else {
    const torch::Tensor gate = torch::gelu(wi_0->forward(hidden), "tanh");
    const torch::Tensor content = wi_1->forward(hidden);
    inner = gate * content;
  }
  return wo->forward(dropout_->forward(inner));
}

T5FeedForwardLayerImpl::T5FeedForwardLayerImpl(const T5Config& config) : dropout_(config.dropout) {
  dense = register_module("DenseReluDense", T5Dense(config));
  layer_norm = register_module("layer_norm", RMSNorm(config.width, config.norm_epsilon));
  register_module("dropout", dropout_);
}

torch::Tensor T5FeedForwardLayerImpl::forward(const torch::Tensor& hidden) {
  const torch::Tensor normalised = layer_norm->forward(hidden);
  const torch::Tensor transformed = dense->forward(normalised);
  return hidden + dropout_->forward(transformed);
}

T5BlockImpl::T5BlockImpl(const T5Config& config, bool has_relative_attention_bias) {
  attention_layer = T5SelfAttentionLayer(config, has_relative_attention_bias);
  feed_forward_layer = T5FeedForwardLayer(config);
  register_module("layer", torch::nn::ModuleList(attention_layer, feed_forward_layer));
}

torch::Tensor T5BlockImpl::forward(const torch::Tensor& hidden,
                                   const torch::Tensor& position_bias) {
  const torch::Tensor attended = attention_layer->forward(hidden, position_bias);
  return feed_forward_layer->forward(attended);
}

T5EncoderImpl::T5EncoderImpl(const T5Config& config) : dropout_(config.dropout) {
  torch::nn::ModuleList list;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    blocks.emplace_back(config, /*has_relative_attention_bias=*/i == 0);
    list->push_back(blocks.back());
  }
  register_module("block", list);
  final_layer_norm =
      register_module("final_layer_norm", RMSNorm(config.width, config.norm_epsilon));
  register_module("dropout", dropout_);
}

EncoderOutput T5EncoderImpl::forward(const torch::Tensor& embedded, const torch::Tensor& mask) {
  // The first block makes the position bias for all; padding is masked in it once, for all.
  torch::Tensor hidden = dropout_->forward(embedded);
  torch::Tensor token_mask = mask;
  bring_to(device_of(*blocks.front()), hidden, token_mask);
  const torch::Tensor padding_bias = (1 - token_mask.to(hidden.dtype()))
                                         .mul(std::numeric_limits<float>::lowest())
                                         .view({mask.size(0), 1, 1, mask.size(1)});
  torch::Tensor position_bias =
      blocks.front()->attention_layer->self_attention->compute_bias(mask.size(1)) + padding_bias;

  for (T5Block& block : blocks) {
    bring_to(device_of(*block), hidden, position_bias, token_mask);
    hidden = block->forward(hidden, position_bias);
  }

  bring_to(device_of(*final_layer_norm), hidden, token_mask);
  const torch::Tensor normalised = final_layer_norm->forward(hidden);
  return {dropout_->forward(normalised), token_mask};
}

}  // namespace models
