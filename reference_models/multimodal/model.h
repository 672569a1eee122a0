// The whole model: a large multimodal model, and the encoder whose vectors can stand for the
// question.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "common/saved_run.h"
#include "fault.h"
#include "icv.h"
#include "idefics.h"
#include "processor.h"
#include "run_config.h"

namespace models::multimodal {

class ModelImpl : public torch::nn::Module {
 public:
  // Made on the CPU from the default generator.
  explicit ModelImpl(const IdeficsConfig& config, Fault fault = Fault::kNone);

  // Lets the weights learn that learn in this stage, and freezes the others.
  void set_stage(Stage stage);

  // Logits [batch, length, vocabulary], with the vectors of the tasks added in stage icv.
  torch::Tensor forward(const Batch& batch);

  // Copies weights by name into the parameters, wherever those are. Throws UsageError when one is
  // missing or has another shape.
  void load_weights(const Weights& weights);

  Idefics lmm{nullptr};
  IcvEncoder icv_encoder{nullptr};

 private:
  Stage stage_ = Stage::kPretrain;
};
TORCH_MODULE(Model);

}  // namespace models::multimodal
