// One training run, step by step. Order of the data and dropout of a step depend on the seed and
// the number of the step alone, so a run that was interrupted goes on as if it had not been.
#pragma once

#include <torch/optim/adamw.h>

#include <cstdint>
#include <vector>

#include "classifier.h"
#include "common/saved_run.h"
#include "fault.h"
#include "run_config.h"
#include "sequences.h"

namespace models {

class Trainer {
 public:
  // `model` is placed and has its adapters; parameters that need no gradient are not trained.
  Trainer(EncoderClassifier model, const RunConfig& config, std::vector<Sequence> sequences,
          Fault fault = Fault::kNone);

  // One step of AdamW on the next batch. The mean loss of the batch stays on its device: reading it
  // would make the host wait for every step.
  torch::Tensor train_step();

  std::int64_t step() const { return step_; }
  std::int64_t steps_per_epoch() const;

  SavedRun save() const;
  // Goes on at the step of a run of the same model: weights, optimizer and counter.
  void resume(const SavedRun& run);

 private:
  Batch next_batch();

  EncoderClassifier model_;
  RunConfig config_;
  std::vector<Sequence> sequences_;
  Fault fault_;
  torch::optim::AdamW optimizer_;
  std::int64_t step_ = 0;
  std::int64_t order_epoch_ = -1;
  std::vector<std::size_t> order_;  // of the sequences, in epoch order_epoch_
};

// Copies weights by name into the parameters, wherever those are. Adapters that `weights` does not
// have keep their values. Throws UsageError when any other parameter is missing or has another
// shape.
void load_weights(EncoderClassifier& model, const Weights& weights);

struct Evaluation {
  double loss;      // mean over the sequences
  double accuracy;  // share of them on the right side of a logit of 0
};
Evaluation evaluate(EncoderClassifier& model, const std::vector<Sequence>& sequences);

}  // namespace models
