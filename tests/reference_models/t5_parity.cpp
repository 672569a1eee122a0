// Runs the encoder classifier on weights and inputs from a file and writes what comes out, for a
// comparison with another implementation.
//
//     t5_parity CONFIG.json WEIGHTS.safetensors INPUTS.safetensors OUTPUTS.safetensors
//
// CONFIG.json is what Hugging Face's T5Config writes, with "lora_rank" and "lora_alpha" where there
// are adapters. Outputs are "hidden" (of the encoder), "logits", "loss" and, by parameter,
// "gradient.<name>".
#include <fmt/format.h>
#include <torch/torch.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/safetensors.h"
#include "common/usage_error.h"
#include "encoder_classifier/classifier.h"
#include "parity.h"

namespace models {
namespace {

T5Config read_config(const nlohmann::json& json) {
  T5Config config;
  config.vocabulary = json.at("vocab_size");
  config.width = json.at("d_model");
  config.head_width = json.at("d_kv");
  config.heads = json.at("num_heads");
  config.inner_width = json.at("d_ff");
  config.layers = json.at("num_layers");
  config.feed_forward =
      json.at("feed_forward_proj") == "relu" ? FeedForward::kRelu : FeedForward::kGatedGelu;
  config.position_buckets = json.at("relative_attention_num_buckets");
  config.max_distance = json.at("relative_attention_max_distance");
  config.norm_epsilon = json.at("layer_norm_epsilon");
  return config;
}

void run(char** argv) {
  std::ifstream file(argv[1]);
  const auto json = nlohmann::json::parse(file);
  const std::int64_t padding = json.at("pad_token_id");
  EncoderClassifier model(read_config(json), padding);
  if (json.contains("lora_rank")) {
    LoraConfig lora;
    lora.rank = json.at("lora_rank");
    lora.alpha = json.at("lora_alpha");
    model->add_lora(lora);
  }
  load_exactly(*model, read_safetensors(argv[2]));
  model->eval();

  const Tensors inputs = read_safetensors(argv[3]);
  const torch::Tensor input_ids = inputs.at("input_ids");
  const torch::Tensor hidden =
      model->encoder->forward(model->shared->forward(input_ids), input_ids != padding).hidden;
  const torch::Tensor logits = model->forward(input_ids);
  const torch::Tensor loss = torch::binary_cross_entropy_with_logits(logits, inputs.at("labels"));
  loss.backward();

  Tensors outputs{{"hidden", hidden}, {"logits", logits}, {"loss", loss}};
  add_gradients(*model, outputs);
  write_safetensors(argv[4], outputs);
}

}  // namespace
}  // namespace models

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: t5_parity CONFIG WEIGHTS INPUTS OUTPUTS\n");
    return 2;
  }
  try {
    models::run(argv);
    return 0;
  } catch (const models::UsageError& error) {
    fmt::print(stderr, "t5_parity: {}\n", error.what());
    return 2;
  }
}
