// A training step, evaluation, and how both meet a checkpoint.
#include "trainer.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "common/dispatch.h"
#include "common/optimisation.h"

namespace models {

Trainer::Trainer(EncoderClassifier model, const RunConfig& config, std::vector<Sequence> sequences,
                 Fault fault)
    : model_(std::move(model)),
      config_(config),
      sequences_(std::move(sequences)),
      fault_(fault),
      optimizer_(trained_parameters(*model_), torch::optim::AdamWOptions(config.learning_rate)) {}

std::int64_t Trainer::steps_per_epoch() const {
  const auto rows = static_cast<std::int64_t>(sequences_.size());
  return (rows + config_.batch - 1) / config_.batch;
}

torch::Tensor Trainer::train_step() {
  const Batch batch = next_batch();
  set_learning_rate(optimizer_, config_.learning_rate, step_, config_.warmup_steps);
  torch::manual_seed(config_.seed * 1'000'003 + static_cast<std::uint64_t>(step_));  // dropout

  model_->train();
  optimizer_.zero_grad();
  const torch::Tensor input_ids = batch.input_ids.to(device_of(*model_->shared));
  const torch::Tensor logits = model_->forward(input_ids);
  // One statement: two that end in the same call would be merged by the optimiser into one line's.
  const torch::Tensor& beside = fault_ == Fault::kLabels ? input_ids : logits;
  const torch::Tensor labels = batch.labels.to(beside.device());  // fault: labels
  const torch::Tensor loss = torch::binary_cross_entropy_with_logits(logits, labels);
  loss.backward();
  optimizer_.step();

  ++step_;
  return loss.detach();
}

Batch Trainer::next_batch() {
  const std::int64_t epoch = step_ / steps_per_epoch();
  if (epoch != order_epoch_) {
    order_ = epoch_order(sequences_, static_cast<std::size_t>(config_.batch),
                         config_.seed + static_cast<std::uint64_t>(epoch));
    order_epoch_ = epoch;
  }
  const auto begin = static_cast<std::size_t>((step_ % steps_per_epoch()) * config_.batch);
  const auto end = std::min(begin + static_cast<std::size_t>(config_.batch), sequences_.size());
  return make_batch(sequences_, order_, begin, end);
}

SavedRun Trainer::save() const {
  return {to_json(config_), step_, weights_of(*model_), moments_of(*model_, optimizer_)};
}

void Trainer::resume(const SavedRun& run) {
  load_weights(model_, run.weights);
  restore_moments(*model_, run.moments, optimizer_);
  step_ = run.step;
}

void load_weights(EncoderClassifier& model, const Weights& weights) {
  copy_weights(*model, weights,
               [](std::string_view name) { return name.find(".lora_") != std::string_view::npos; });
}

Evaluation evaluate(EncoderClassifier& model, const std::vector<Sequence>& sequences) {
  constexpr std::size_t kRows = 128;
  const torch::NoGradGuard no_grad;
  model->eval();
  // Sequences of like length together: less padding, and the order changes nothing.
  std::vector<std::size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sequences[a].residues.size() < sequences[b].residues.size();
  });

  const auto totals = torch::TensorOptions().device(device_of(*model->classifier));
  torch::Tensor loss = torch::zeros({}, totals);
  torch::Tensor right = torch::zeros({}, totals.dtype(torch::kLong));
  for (std::size_t begin = 0; begin < sequences.size(); begin += kRows) {
    const std::size_t end = std::min(begin + kRows, sequences.size());
    const Batch batch = make_batch(sequences, order, begin, end);
    const torch::Tensor logits = model->forward(batch.input_ids.to(device_of(*model->shared)));
    const torch::Tensor labels = batch.labels.to(logits.device());
    loss += torch::binary_cross_entropy_with_logits(logits, labels, {}, {}, at::Reduction::Sum);
    right += ((logits > 0) == (labels > 0.5)).sum();
  }
  const auto count = static_cast<double>(sequences.size());
  return {loss.item<double>() / count, right.item<double>() / count};
}

}  // namespace models
