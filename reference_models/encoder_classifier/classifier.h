// A sequence classifier: T5 encoder, mean over the tokens, one linear unit.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <vector>

#include "common/device_map.h"
#include "common/lora.h"
#include "fault.h"
#include "t5_encoder.h"

namespace models {

class EncoderClassifierImpl : public torch::nn::Module {
 public:
  // Made on the CPU from the default generator; place() moves it. `padding` is the token of
  // padding.
  EncoderClassifierImpl(const T5Config& config, std::int64_t padding, Fault fault = Fault::kNone);

  // The parts a device map places, in the order they run in.
  std::vector<ModelPart> parts() const;

  // Freezes the encoder and gives the q and v projections of every block an adapter, each on the
  // device of its projection. The head goes on learning: it is the task's own. To be called after
  // place().
  void add_lora(const LoraConfig& config);

  // input_ids [batch, length], on device_of(*shared), to logits [batch], on the device of the head.
  torch::Tensor forward(const torch::Tensor& input_ids);

  torch::nn::Embedding shared{nullptr};
  T5Encoder encoder{nullptr};
  torch::nn::Linear classifier{nullptr};

 private:
  std::int64_t padding_;
  Fault fault_;
};
TORCH_MODULE(EncoderClassifier);

}  // namespace models
