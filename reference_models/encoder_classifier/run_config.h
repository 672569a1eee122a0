// What a training run is made of. It is kept in the checkpoint, so a resumed run is the same run.
#pragma once

#include <cstdint>
#include <string>

#include "t5_encoder.h"

namespace models {

enum class Finetune { kFull, kLora };

struct RunConfig {
  std::int64_t width = 64;
  std::int64_t layers = 4;
  FeedForward feed_forward = FeedForward::kGatedGelu;
  double dropout = 0.1;
  std::uint64_t seed = 0;

  Finetune finetune = Finetune::kFull;
  std::int64_t batch = 32;
  double learning_rate = 1e-3;
  std::int64_t warmup_steps = 50;
  std::int64_t lora_rank = 8;
  double lora_alpha = 16;
};

inline constexpr std::int64_t kHeadWidth = 16;

// Heads of 16, an inner layer of twice the width.
T5Config encoder_config(const RunConfig& config, std::int64_t vocabulary);

std::string to_json(const RunConfig& config);
// Throws UsageError for another text.
RunConfig run_config_from_json(const std::string& text);

}  // namespace models
