// A training run on disk: weights and optimizer by parameter name, the step, and what the run is
// made of. The file holds a dictionary in PyTorch's own format: in Python
// torch.load(file, weights_only=False) reads it.
#pragma once

#include <torch/nn/module.h>
#include <torch/optim/adamw.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace models {

using Weights = std::map<std::string, torch::Tensor>;

// What AdamW knows of one parameter.
struct Moments {
  std::int64_t step;
  torch::Tensor average;         // of the gradient
  torch::Tensor square_average;  // of its square
};

// Tensors are on the CPU, whatever device the run was on: a run of two GPUs goes on with none.
struct SavedRun {
  std::string config;  // the program's own JSON
  std::int64_t step = 0;
  Weights weights;
  std::map<std::string, Moments> moments;
};

// `program` and `version` tell files of different programs apart. Throws UsageError when it cannot.
void write_run(const std::filesystem::path& path, std::string_view program, int version,
               const SavedRun& run);

// Throws UsageError when `path` is not a checkpoint of this program.
SavedRun read_run(const std::filesystem::path& path, std::string_view program, int version);

// Copies of the parameters of a model, and of what an optimizer knows of them.
Weights weights_of(const torch::nn::Module& model);
std::map<std::string, Moments> moments_of(const torch::nn::Module& model,
                                          const torch::optim::AdamW& optimizer);

// Copies weights by name into the parameters, wherever those are. A parameter for whose name
// `may_be_missing` is true keeps its value where there is no weight for it. Throws UsageError when
// any other parameter is missing or has another shape.
void copy_weights(const torch::nn::Module& model, const Weights& weights,
                  const std::function<bool(std::string_view)>& may_be_missing);

// Gives an optimizer of a model's parameters what another one knew of them.
void restore_moments(const torch::nn::Module& model, const std::map<std::string, Moments>& moments,
                     torch::optim::AdamW& optimizer);

}  // namespace models
