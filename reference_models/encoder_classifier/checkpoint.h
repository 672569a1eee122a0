// A run on disk: weights and optimizer by parameter name, the step, and what the run is made of.
// The file is what torch.save would write for a dictionary, so Python's torch.load reads it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "run_config.h"

namespace models {

// What AdamW knows of one parameter.
struct Moments {
  std::int64_t step;
  torch::Tensor average;         // of the gradient
  torch::Tensor square_average;  // of its square
};

// Tensors are on the CPU, whatever device the run was on: a checkpoint of two GPUs opens on none.
struct Checkpoint {
  RunConfig config;
  std::int64_t step = 0;
  std::map<std::string, torch::Tensor> weights;
  std::map<std::string, Moments> moments;
};

// Writes beside `path` and renames: an older checkpoint there is whole until the new one is. Throws
// UsageError when it cannot.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

// Throws UsageError when `path` is not a checkpoint of this program.
Checkpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace models
