// The run's make-up as JSON.
#include "run_config.h"

#include <nlohmann/json.hpp>

#include "common/usage_error.h"

namespace models {

NLOHMANN_JSON_SERIALIZE_ENUM(FeedForward, {{FeedForward::kRelu, "relu"},
                                           {FeedForward::kGatedGelu, "gated-gelu"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Finetune, {{Finetune::kFull, "full"}, {Finetune::kLora, "lora"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunConfig, width, layers, feed_forward, dropout, seed, finetune,
                                   batch, learning_rate, warmup_steps, lora_rank, lora_alpha)

T5Config encoder_config(const RunConfig& config, std::int64_t vocabulary) {
  T5Config encoder;
  encoder.vocabulary = vocabulary;
  encoder.width = config.width;
  encoder.head_width = kHeadWidth;
  encoder.heads = config.width / kHeadWidth;
  encoder.inner_width = 2 * config.width;
  encoder.layers = config.layers;
  encoder.feed_forward = config.feed_forward;
  encoder.dropout = config.dropout;
  return encoder;
}

std::string to_json(const RunConfig& config) {
  return nlohmann::json(config).dump();
}

RunConfig run_config_from_json(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<RunConfig>();
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(std::string("the checkpoint's configuration: ") + error.what());
  }
}

}  // namespace models
