// The run as JSON, and the shape of its model.
#include "run_config.h"

#include <nlohmann/json.hpp>

#include "common/usage_error.h"
#include "digits.h"
#include "questions.h"

namespace models::multimodal {

NLOHMANN_JSON_SERIALIZE_ENUM(Stage, {{Stage::kPretrain, "pretrain"}, {Stage::kIcv, "icv"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunConfig, width, layers, seed, batch, stage)

IdeficsConfig idefics_config(const RunConfig& config) {
  IdeficsConfig idefics;
  idefics.vocabulary = kVocabulary;
  idefics.additional_vocabulary = kAdditionalVocabulary;
  idefics.width = config.width;
  idefics.inner_width = 2 * config.width;
  idefics.layers = config.layers;
  idefics.heads = config.width / kHeadWidth;
  idefics.vision.width = config.width;
  idefics.vision.image_size = kImageSide;
  idefics.vision.layers = config.layers;
  idefics.vision.heads = config.width / kHeadWidth;
  idefics.vision.inner_width = 2 * config.width;
  return idefics;
}

std::string to_json(const RunConfig& config) {
  return nlohmann::json(config).dump();
}

RunConfig run_config_from_json(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<RunConfig>();
  } catch (const nlohmann::json::exception&) {
    throw UsageError("the checkpoint does not say what its run is made of");
  }
}

}  // namespace models::multimodal
