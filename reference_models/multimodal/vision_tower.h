// The vision tower of Idefics: CLIP's transformer over the patches of an image. Modules and
// parameters have the names of Hugging Face's IdeficsVisionTransformer.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <vector>

#include "fault.h"

namespace models::multimodal {

struct VisionConfig {
  std::int64_t width = 64;  // embed_dim
  std::int64_t image_size = 8;
  std::int64_t patch_size = 2;
  std::int64_t channels = 1;
  std::int64_t layers = 2;
  std::int64_t heads = 4;
  std::int64_t inner_width = 128;
  double norm_epsilon = 1e-5;
};

// One embedding for each patch, and one before them for the image as a whole.
class VisionEmbeddingsImpl : public torch::nn::Module {
 public:
  VisionEmbeddingsImpl(const VisionConfig& config, Fault fault);
  // pixels [images, channels, image_size, image_size] to [images, patches + 1, width].
  torch::Tensor forward(const torch::Tensor& pixels);

  torch::Tensor class_embedding;  // [width]
  torch::nn::Conv2d patch_embedding{nullptr};
  torch::nn::Embedding position_embedding{nullptr};

 private:
  torch::Tensor position_ids_;  // [1, patches + 1]
  Fault fault_;
};
TORCH_MODULE(VisionEmbeddings);

class VisionAttentionImpl : public torch::nn::Module {
 public:
  explicit VisionAttentionImpl(const VisionConfig& config);
  torch::Tensor forward(const torch::Tensor& hidden);

  torch::nn::Linear q_proj{nullptr}, k_proj{nullptr}, v_proj{nullptr}, out_proj{nullptr};

 private:
  std::int64_t heads_;
};
TORCH_MODULE(VisionAttention);

class VisionMlpImpl : public torch::nn::Module {
 public:
  explicit VisionMlpImpl(const VisionConfig& config);
  torch::Tensor forward(const torch::Tensor& hidden);

  torch::nn::Linear fc1{nullptr}, fc2{nullptr};
};
TORCH_MODULE(VisionMlp);

class VisionLayerImpl : public torch::nn::Module {
 public:
  explicit VisionLayerImpl(const VisionConfig& config);
  torch::Tensor forward(const torch::Tensor& hidden);

  VisionAttention self_attn{nullptr};
  VisionMlp mlp{nullptr};
  torch::nn::LayerNorm layer_norm1{nullptr}, layer_norm2{nullptr};
};
TORCH_MODULE(VisionLayer);

class VisionEncoderImpl : public torch::nn::Module {
 public:
  explicit VisionEncoderImpl(const VisionConfig& config);
  torch::Tensor forward(const torch::Tensor& embedded);

  std::vector<VisionLayer> layers;
};
TORCH_MODULE(VisionEncoder);

class VisionTowerImpl : public torch::nn::Module {
 public:
  explicit VisionTowerImpl(const VisionConfig& config, Fault fault = Fault::kNone);
  // pixels [images, channels, image_size, image_size] to [images, patches + 1, width].
  torch::Tensor forward(const torch::Tensor& pixels);

  VisionEmbeddings embeddings{nullptr};
  // Spelt as the published weights spell it.
  torch::nn::LayerNorm pre_layrnorm{nullptr};
  VisionEncoder encoder{nullptr};
  // Of the pooled output, which a language model does not read: kept so that weights load by name,
  // and never trained.
  torch::nn::LayerNorm post_layernorm{nullptr};
};
TORCH_MODULE(VisionTower);

}  // namespace models::multimodal
