// What learns in which stage.
#include "model.h"

#include <string_view>

namespace models::multimodal {
namespace {

void set_requires_grad(const torch::nn::Module& module, bool requires_grad) {
  for (torch::Tensor& parameter : module.parameters()) parameter.set_requires_grad(requires_grad);
}

}  // namespace

ModelImpl::ModelImpl(const IdeficsConfig& config, Fault fault) {
  lmm = register_module("lmm", Idefics(config, fault));
  icv_encoder =
      register_module("icv_encoder", IcvEncoder(kQuestions.size(), config.layers, config.width));
  set_stage(Stage::kPretrain);
}

void ModelImpl::set_stage(Stage stage) {
  stage_ = stage;
  set_requires_grad(*lmm, stage == Stage::kPretrain);
  set_requires_grad(*lmm->model->vision_model->post_layernorm, false);
  set_requires_grad(*icv_encoder, stage == Stage::kIcv);
}

torch::Tensor ModelImpl::forward(const Batch& batch) {
  if (stage_ == Stage::kPretrain) return lmm->forward(batch.inputs);
  const torch::Tensor vectors = icv_encoder->forward(batch.task);
  return lmm->forward(batch.inputs, vectors);
}

void ModelImpl::load_weights(const Weights& weights) {
  copy_weights(*this, weights, [](std::string_view) { return false; });
}

}  // namespace models::multimodal
