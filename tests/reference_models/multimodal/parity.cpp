// Runs Idefics on weights and inputs from a file and writes what comes out, for a comparison with
// another implementation.
//
//     multimodal_parity CONFIG.json WEIGHTS.safetensors INPUTS.safetensors OUTPUTS.safetensors
//
// CONFIG.json is what Hugging Face's IdeficsConfig writes. Outputs are "logits", "loss" (the mean
// over the tokens whose label counts) and, by parameter, "gradient.<name>".
#include <fmt/format.h>
#include <torch/torch.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/safetensors.h"
#include "common/usage_error.h"
#include "multimodal/idefics.h"
#include "parity.h"

namespace models::multimodal {
namespace {

IdeficsConfig read_config(const char* path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file);
  const auto& vision = json.at("vision_config");
  IdeficsConfig config;
  config.vocabulary = json.at("vocab_size");
  config.additional_vocabulary = json.at("additional_vocab_size");
  config.width = json.at("hidden_size");
  config.inner_width = json.at("intermediate_size");
  config.layers = json.at("num_hidden_layers");
  config.heads = json.at("num_attention_heads");
  config.cross_layer_interval = json.at("cross_layer_interval");
  config.alpha_type = json.at("alpha_type") == "vector" ? AlphaType::kVector : AlphaType::kFloat;
  config.qk_layer_norms = json.at("qk_layer_norms");
  config.norm_epsilon = json.at("rms_norm_eps");
  config.vision.width = vision.at("embed_dim");
  config.vision.image_size = vision.at("image_size");
  config.vision.patch_size = vision.at("patch_size");
  config.vision.channels = vision.at("num_channels");
  config.vision.layers = vision.at("num_hidden_layers");
  config.vision.heads = vision.at("num_attention_heads");
  config.vision.inner_width = vision.at("intermediate_size");
  config.vision.norm_epsilon = vision.at("layer_norm_eps");
  return config;
}

void run(char** argv) {
  Idefics model(read_config(argv[1]));
  load_exactly(*model, read_safetensors(argv[2]));
  const Tensors inputs = read_safetensors(argv[3]);
  const torch::Tensor labels = inputs.at("labels");

  const torch::Tensor logits =
      model->forward({inputs.at("input_ids"), inputs.at("attention_mask"),
                      inputs.at("pixel_values"), inputs.at("image_attention_mask")});
  const torch::Tensor counted = (labels.slice(1, 1) != kIgnored).sum();
  const torch::Tensor loss = next_token_loss(logits, labels) / counted;
  loss.backward();

  Tensors outputs{{"logits", logits}, {"loss", loss}};
  add_gradients(*model, outputs);
  write_safetensors(argv[4], outputs);
}

}  // namespace
}  // namespace models::multimodal

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: multimodal_parity CONFIG WEIGHTS INPUTS OUTPUTS\n");
    return 2;
  }
  try {
    models::multimodal::run(argv);
    return 0;
  } catch (const models::UsageError& error) {
    fmt::print(stderr, "multimodal_parity: {}\n", error.what());
    return 2;
  }
}
