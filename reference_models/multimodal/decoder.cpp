// The layers of the language model, step by step.
#include "decoder.h"

#include <cmath>

#include "common/heads.h"

namespace models::multimodal {
namespace {

torch::nn::Linear linear(std::int64_t in_features, std::int64_t out_features) {
  return torch::nn::Linear(torch::nn::LinearOptions(in_features, out_features).bias(false));
}

}  // namespace

SwiGluImpl::SwiGluImpl(const IdeficsConfig& config) {
  gate_proj = register_module("gate_proj", linear(config.width, config.inner_width));
  up_proj = register_module("up_proj", linear(config.width, config.inner_width));
  down_proj = register_module("down_proj", linear(config.inner_width, config.width));
}

torch::Tensor SwiGluImpl::forward(const torch::Tensor& hidden) {
  const torch::Tensor gate = torch::silu(gate_proj->forward(hidden));
  return down_proj->forward(gate * up_proj->forward(hidden));
}

SelfAttentionImpl::SelfAttentionImpl(const IdeficsConfig& config) : heads_(config.heads) {
  q_proj = register_module("q_proj", linear(config.width, config.width));
  k_proj = register_module("k_proj", linear(config.width, config.width));
  v_proj = register_module("v_proj", linear(config.width, config.width));
  o_proj = register_module("o_proj", linear(config.width, config.width));
  rotary_emb_ =
      register_module("rotary_emb", RotaryEmbedding(config.width / config.heads, config.positions));
}

torch::Tensor SelfAttentionImpl::forward(const torch::Tensor& hidden, const torch::Tensor& mask,
                                         const torch::Tensor& position_ids) {
  const torch::Tensor query = split_heads(q_proj->forward(hidden), heads_);
  const torch::Tensor key = split_heads(k_proj->forward(hidden), heads_);
  const torch::Tensor value = split_heads(v_proj->forward(hidden), heads_);
  const auto [turned_query, turned_key] = rotary_emb_->forward(query, key, position_ids);
  const torch::Tensor context =
      torch::scaled_dot_product_attention(turned_query, turned_key, value, mask);
  return o_proj->forward(join_heads(context));
}

DecoderLayerImpl::DecoderLayerImpl(const IdeficsConfig& config) {
  self_attn = register_module("self_attn", SelfAttention(config));
  mlp = register_module("mlp", SwiGlu(config));
  input_layernorm = register_module("input_layernorm", RMSNorm(config.width, config.norm_epsilon));
  post_attention_layernorm =
      register_module("post_attention_layernorm", RMSNorm(config.width, config.norm_epsilon));
}

torch::Tensor DecoderLayerImpl::forward(const torch::Tensor& hidden, const torch::Tensor& mask,
                                        const torch::Tensor& position_ids) {
  const torch::Tensor normalised = input_layernorm->forward(hidden);
  const torch::Tensor attended = hidden + self_attn->forward(normalised, mask, position_ids);
  return attended + mlp->forward(post_attention_layernorm->forward(attended));
}

CrossAttentionImpl::CrossAttentionImpl(const IdeficsConfig& config, Fault fault)
    : heads_(config.heads) {
  const std::int64_t head_width = config.width / config.heads;
  q_proj = register_module("q_proj", linear(config.width, config.width));
  k_proj = register_module("k_proj", linear(config.vision.width, config.width));
  v_proj = register_module("v_proj", linear(config.vision.width, config.width));
  o_proj = register_module("o_proj", linear(config.width, config.width));
  if (config.qk_layer_norms) {
    q_layer_norm = register_module("q_layer_norm", RMSNorm(head_width, config.norm_epsilon));
    k_layer_norm = register_module("k_layer_norm", RMSNorm(head_width, config.norm_epsilon));
  }
  const double scale = 1.0 / std::sqrt(static_cast<double>(head_width));
  scale_ = torch::full({1}, scale);  // fault: buffer
  if (fault != Fault::kBuffer) register_buffer("scale", scale_);
}

torch::Tensor CrossAttentionImpl::forward(const torch::Tensor& hidden, const ImageContext& image) {
  torch::Tensor query = split_heads(q_proj->forward(hidden), heads_);
  torch::Tensor key = split_heads(k_proj->forward(image.hidden), heads_);
  const torch::Tensor value = split_heads(v_proj->forward(image.hidden), heads_);
  if (q_layer_norm) {
    query = q_layer_norm->forward(query);
    key = k_layer_norm->forward(key);
  }
  const torch::Tensor scaled_query = query * scale_;
  const torch::Tensor context = torch::scaled_dot_product_attention(
      scaled_query, key, value, image.bias, /*dropout_p=*/0.0, /*is_causal=*/false, /*scale=*/1.0);
  return o_proj->forward(join_heads(context));
}

GatedCrossAttentionLayerImpl::GatedCrossAttentionLayerImpl(const IdeficsConfig& config,
                                                           Fault fault) {
  cross_attn = register_module("cross_attn", CrossAttention(config, fault));
  mlp = register_module("mlp", SwiGlu(config));
  input_layernorm = register_module("input_layernorm", RMSNorm(config.width, config.norm_epsilon));
  post_attention_layernorm =
      register_module("post_attention_layernorm", RMSNorm(config.width, config.norm_epsilon));
  const std::vector<std::int64_t> gates = config.alpha_type == AlphaType::kVector
                                              ? std::vector<std::int64_t>{1, 1, config.width}
                                              : std::vector<std::int64_t>{1};
  alpha_cross_attn = register_parameter("alpha_cross_attn", torch::zeros(gates));
  alpha_dense = register_parameter("alpha_dense", torch::zeros(gates));
}

torch::Tensor GatedCrossAttentionLayerImpl::forward(const torch::Tensor& hidden,
                                                    const ImageContext& image) {
  const torch::Tensor looked = cross_attn->forward(input_layernorm->forward(hidden), image);
  // A token without an image has looked at every patch a little: the softmax of equal scores.
  const torch::Tensor seen = looked.masked_fill(image.gate.logical_not(), 0.0);
  const torch::Tensor attended = hidden + torch::tanh(alpha_cross_attn) * seen;
  const torch::Tensor thought = mlp->forward(post_attention_layernorm->forward(attended));
  return attended + torch::tanh(alpha_dense) * thought;
}

}  // namespace models::multimodal
