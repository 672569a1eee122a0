// What a training run is made of. It is kept in the checkpoint, so a resumed run is the same run.
#pragma once

#include <cstdint>
#include <string>

#include "decoder.h"

namespace models::multimodal {

enum class Stage {
  kPretrain,  // all weights learn, and the questions are asked in words
  kIcv,       // the in-context-vector encoder alone learns, and stands for the questions
};

struct RunConfig {
  std::int64_t width = 64;
  std::int64_t layers = 2;  // of the language model, and of the vision tower
  std::uint64_t seed = 0;
  std::int64_t batch = 64;  // examples a step, over all ranks
  Stage stage = Stage::kPretrain;
};

inline constexpr std::int64_t kHeadWidth = 16;

// Heads of 16, inner layers of twice the width, patches of 2 by 2 pixels.
IdeficsConfig idefics_config(const RunConfig& config);

std::string to_json(const RunConfig& config);
// Throws UsageError for another text.
RunConfig run_config_from_json(const std::string& text);

}  // namespace models::multimodal
