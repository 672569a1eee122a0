// One stage of training, step by step, on one rank of several. What a step does depends on the seed
// and the number of the step alone, so a run that was interrupted goes on as if it had not been,
// and the number of ranks changes nothing but rounding.
#pragma once

#include <torch/optim/adamw.h>

#include <array>
#include <cstdint>
#include <vector>

#include "common/saved_run.h"
#include "data_parallel.h"
#include "digits.h"
#include "fault.h"
#include "model.h"
#include "process_group.h"
#include "processor.h"
#include "run_config.h"
#include "shard.h"

namespace models::multimodal {

// A rank, its place in the group, and where it computes.
struct Rank {
  Launch launch;
  ProcessGroup group;
  torch::Device device;

  // This rank's part of rows that all ranks share.
  Slice part_of(Slice whole) const {
    return multimodal::part_of(whole, static_cast<std::size_t>(launch.rank),
                               static_cast<std::size_t>(launch.world_size));
  }
};

// Throws UsageError when a step of training on `digits` digits has too few examples for each rank
// to take part in it.
void check_batch(const RunConfig& config, std::size_t digits, int ranks);

class Trainer {
 public:
  // Moves `model` to the rank's device and gives it rank 0's weights. Throws as
  // check_batch() does.
  Trainer(Model model, const RunConfig& config, const std::vector<Digit>& digits, const Rank& rank,
          Fault fault = Fault::kNone);

  // One step of AdamW on this rank's part of the next batch. The rank's part of the batch's mean
  // loss: the losses of all ranks add up to it. It stays on its device: reading it would make the
  // host wait for every step.
  torch::Tensor train_step();

  std::int64_t step() const { return step_; }
  std::int64_t steps_per_epoch() const;

  SavedRun save() const;
  // Goes on at the step of a saved run of this stage.
  void resume(const SavedRun& run);

 private:
  Slice next_batch();

  Model model_;
  RunConfig config_;
  const std::vector<Digit>& digits_;
  const Rank& rank_;
  Fault fault_;
  torch::Device input_device_;
  std::vector<Example> examples_;
  std::vector<std::size_t> order_;  // of the examples, in epoch order_epoch_
  std::int64_t order_epoch_ = -1;
  std::int64_t step_ = 0;
  torch::optim::AdamW optimizer_;
  DataParallel data_parallel_;
};

// Share of the answers that are right, by question.
struct Accuracy {
  std::array<double, kQuestions.size()> by_question;
  double overall;
};

// Each rank answers its part of the questions; all ranks get the sums of all.
Accuracy evaluate(Model& model, Stage stage, const std::vector<Digit>& digits, const Rank& rank,
                  Fault fault = Fault::kNone);

}  // namespace models::multimodal
