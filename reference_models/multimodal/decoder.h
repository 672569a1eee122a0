// The layers of Idefics' language model: LLaMA's decoder layer, and the gated cross-attention that
// stands before it and lets the text look at the image (Flamingo, Alayrac et al. 2022). Modules and
// parameters have the names of Hugging Face's IdeficsModel.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "common/rms_norm.h"
#include "fault.h"
#include "rotary.h"
#include "vision_tower.h"

namespace models::multimodal {

enum class AlphaType {
  kFloat,   // one gate for all of the width
  kVector,  // one for each element of it
};

struct IdeficsConfig {
  std::int64_t vocabulary = 0;
  std::int64_t additional_vocabulary = 0;  // tokens added to a pretrained vocabulary: <image>
  std::int64_t width = 64;                 // hidden_size
  std::int64_t inner_width = 128;          // intermediate_size
  std::int64_t layers = 2;
  std::int64_t heads = 4;
  std::int64_t cross_layer_interval = 1;  // a cross-attention before each so many-th layer
  std::int64_t positions = 64;            // the longest sequence
  AlphaType alpha_type = AlphaType::kFloat;
  bool qk_layer_norms = false;
  double norm_epsilon = 1e-6;
  VisionConfig vision;
};

// down(silu(gate(x)) * up(x)).
class SwiGluImpl : public torch::nn::Module {
 public:
  explicit SwiGluImpl(const IdeficsConfig& config);
  torch::Tensor forward(const torch::Tensor& hidden);

  torch::nn::Linear gate_proj{nullptr}, up_proj{nullptr}, down_proj{nullptr};
};
TORCH_MODULE(SwiGlu);

class SelfAttentionImpl : public torch::nn::Module {
 public:
  explicit SelfAttentionImpl(const IdeficsConfig& config);
  // hidden [batch, length, width]; mask, bool [batch, 1, length, length], true where a query may
  // look at a key; position_ids [batch, length].
  torch::Tensor forward(const torch::Tensor& hidden, const torch::Tensor& mask,
                        const torch::Tensor& position_ids);

  torch::nn::Linear q_proj{nullptr}, k_proj{nullptr}, v_proj{nullptr}, o_proj{nullptr};

 private:
  std::int64_t heads_;
  RotaryEmbedding rotary_emb_{nullptr};
};
TORCH_MODULE(SelfAttention);

class DecoderLayerImpl : public torch::nn::Module {
 public:
  explicit DecoderLayerImpl(const IdeficsConfig& config);
  torch::Tensor forward(const torch::Tensor& hidden, const torch::Tensor& mask,
                        const torch::Tensor& position_ids);

  SelfAttention self_attn{nullptr};
  SwiGlu mlp{nullptr};
  RMSNorm input_layernorm{nullptr}, post_attention_layernorm{nullptr};
};
TORCH_MODULE(DecoderLayer);

// What the text may see of the images.
struct ImageContext {
  torch::Tensor hidden;  // [batch, keys, vision width]: all patches of all images of a row
  torch::Tensor bias;    // float [batch, 1, length, keys]: 0 where a token may look, or the least
  torch::Tensor gate;    // bool [batch, length, 1]: whether a token may look at anything
};

class CrossAttentionImpl : public torch::nn::Module {
 public:
  CrossAttentionImpl(const IdeficsConfig& config, Fault fault);
  torch::Tensor forward(const torch::Tensor& hidden, const ImageContext& image);

  torch::nn::Linear q_proj{nullptr}, k_proj{nullptr}, v_proj{nullptr}, o_proj{nullptr};
  RMSNorm q_layer_norm{nullptr}, k_layer_norm{nullptr};  // of a head; only with qk_layer_norms

 private:
  std::int64_t heads_;
  torch::Tensor scale_;  // [1]
};
TORCH_MODULE(CrossAttention);

class GatedCrossAttentionLayerImpl : public torch::nn::Module {
 public:
  GatedCrossAttentionLayerImpl(const IdeficsConfig& config, Fault fault);
  // The gates start at tanh(0): a fresh layer hands `hidden` on as it came.
  torch::Tensor forward(const torch::Tensor& hidden, const ImageContext& image);

  CrossAttention cross_attn{nullptr};
  SwiGlu mlp{nullptr};
  RMSNorm input_layernorm{nullptr}, post_attention_layernorm{nullptr};
  torch::Tensor alpha_cross_attn, alpha_dense;  // [1], or [1, 1, width]
};
TORCH_MODULE(GatedCrossAttentionLayer);

}  // namespace models::multimodal
