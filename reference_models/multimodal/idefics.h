// Idefics (v1) without its resampler: a vision tower, and a language model whose layers look at the
// image. Modules and parameters have the names of Hugging Face's IdeficsForVisionText2Text, so its
// weights load by name.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <vector>

#include "common/rms_norm.h"
#include "decoder.h"
#include "fault.h"
#include "vision_tower.h"

namespace models::multimodal {

// An embedding of two tables: tokens from `vocabulary` on are in the second.
class DecoupledEmbeddingImpl : public torch::nn::Module {
 public:
  explicit DecoupledEmbeddingImpl(const IdeficsConfig& config);
  // [batch, length] to [batch, length, width].
  torch::Tensor forward(const torch::Tensor& input_ids);

  torch::Tensor weight;                                // [vocabulary, width]
  torch::nn::Embedding additional_embedding{nullptr};  // none where there are no such tokens
};
TORCH_MODULE(DecoupledEmbedding);

// A projection to the logits of both parts of the vocabulary.
class DecoupledLinearImpl : public torch::nn::Module {
 public:
  explicit DecoupledLinearImpl(const IdeficsConfig& config);
  // [batch, length, width] to [batch, length, vocabulary + additional_vocabulary].
  torch::Tensor forward(const torch::Tensor& hidden);

  torch::Tensor weight;  // [vocabulary, width]
  torch::nn::Linear additional_fc{nullptr};
};
TORCH_MODULE(DecoupledLinear);

// All on one device: the model's.
struct IdeficsInputs {
  torch::Tensor input_ids;             // int64 [batch, length]
  torch::Tensor attention_mask;        // int64 [batch, length], 0 at padding
  torch::Tensor pixel_values;          // float [batch, images, channels, size, size]
  torch::Tensor image_attention_mask;  // int64 [batch, length, images], 1 where a token sees one
};

class IdeficsModelImpl : public torch::nn::Module {
 public:
  explicit IdeficsModelImpl(const IdeficsConfig& config, Fault fault = Fault::kNone);

  // [batch, length, width]. `shifts` [batch, layers, width], where defined, are added to the hidden
  // states that come to each layer, at every token.
  torch::Tensor forward(const IdeficsInputs& inputs, const torch::Tensor& shifts = {});

  DecoupledEmbedding embed_tokens{nullptr};
  VisionTower vision_model{nullptr};
  std::vector<DecoderLayer> layers;
  std::vector<GatedCrossAttentionLayer> gated_cross_attn_layers;
  RMSNorm norm{nullptr};

 private:
  ImageContext look_at(const IdeficsInputs& inputs);

  std::size_t cross_layer_interval_;
};
TORCH_MODULE(IdeficsModel);

class IdeficsImpl : public torch::nn::Module {
 public:
  explicit IdeficsImpl(const IdeficsConfig& config, Fault fault = Fault::kNone);

  // Logits [batch, length, vocabulary + additional_vocabulary].
  torch::Tensor forward(const IdeficsInputs& inputs, const torch::Tensor& shifts = {});

  IdeficsModel model{nullptr};
  DecoupledLinear lm_head{nullptr};
};
TORCH_MODULE(Idefics);

// A label that counts for nothing.
inline constexpr std::int64_t kIgnored = -100;

// The sum, over the tokens whose label counts, of the cross-entropy of each token given those
// before it. labels [batch, length] stand at the tokens they are: the shift by one is made here.
torch::Tensor next_token_loss(const torch::Tensor& logits, const torch::Tensor& labels);

}  // namespace models::multimodal
