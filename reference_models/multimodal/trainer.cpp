// A step, its batch, and the answers that are counted.
#include "trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/dispatch.h"
#include "common/optimisation.h"
#include "common/shuffled.h"
#include "common/usage_error.h"

namespace models::multimodal {
namespace {

constexpr std::int64_t kWarmupSteps = 50;
constexpr std::int64_t kTokensOfAnswer = 2;  // the answer and <eos>

double learning_rate(Stage stage) {
  return stage == Stage::kPretrain ? 2e-3 : 4e-3;
}

// Where the inputs go. Afterwards the model is on the rank's device, as a framework that wraps a
// model would put it.
torch::Device place(Model& model, torch::Device device, Fault fault) {
  torch::Device input_device = device;
  if (fault == Fault::kLateMove) {
    input_device = device_of(*model);  // fault: late-move
  }
  model->to(device);
  return input_device;
}

// Batches of `batch` at most that together are `examples` examples.
std::int64_t steps_for(std::size_t examples, std::int64_t batch) {
  return (static_cast<std::int64_t>(examples) + batch - 1) / batch;
}

}  // namespace

void check_batch(const RunConfig& config, std::size_t digits, int ranks) {
  const std::size_t examples = digits * kQuestions.size();
  const auto steps = static_cast<std::size_t>(steps_for(examples, config.batch));
  if (examples / steps < static_cast<std::size_t>(ranks)) {
    throw UsageError(
        fmt::format("--batch {}: {} ranks cannot share such a batch", config.batch, ranks));
  }
}

Trainer::Trainer(Model model, const RunConfig& config, const std::vector<Digit>& digits,
                 const Rank& rank, Fault fault)
    : model_(std::move(model)),
      config_(config),
      digits_(digits),
      rank_(rank),
      fault_(fault),
      input_device_(place(model_, rank.device, fault)),
      examples_(all_examples(digits.size())),
      optimizer_(trained_parameters(*model_),
                 torch::optim::AdamWOptions(learning_rate(config.stage))),
      data_parallel_(*model_, rank.group) {
  check_batch(config, digits.size(), rank.launch.world_size);
}

std::int64_t Trainer::steps_per_epoch() const {
  return steps_for(examples_.size(), config_.batch);
}

torch::Tensor Trainer::train_step() {
  const Slice whole = next_batch();
  const Slice mine = rank_.part_of(whole);
  std::vector<Example> examples;
  for (std::size_t i = mine.begin; i < mine.end; ++i) examples.push_back(examples_[order_[i]]);
  const bool in_words = config_.stage == Stage::kPretrain;
  const Batch batch = process(make_batch(digits_, examples, in_words), input_device_, fault_);

  set_learning_rate(optimizer_, learning_rate(config_.stage), step_, kWarmupSteps);
  model_->train();
  optimizer_.zero_grad();
  data_parallel_.before_forward();
  const torch::Tensor logits = model_->forward(batch);
  const torch::Tensor sum = next_token_loss(logits, batch.labels);
  const auto tokens = static_cast<double>(whole.size()) * kTokensOfAnswer;
  const torch::Tensor loss = sum / tokens;

  // The gradients of the ranks are averaged, and this loss is a term of a sum over them.
  data_parallel_.before_backward();
  (loss * rank_.launch.world_size).backward();
  optimizer_.step();
  ++step_;
  return loss.detach();
}

Slice Trainer::next_batch() {
  const std::int64_t epoch = step_ / steps_per_epoch();
  if (epoch != order_epoch_) {
    order_ = shuffled(examples_.size(), config_.seed + static_cast<std::uint64_t>(epoch));
    order_epoch_ = epoch;
  }
  return multimodal::part_of({0, examples_.size()},
                             static_cast<std::size_t>(step_ % steps_per_epoch()),
                             static_cast<std::size_t>(steps_per_epoch()));
}

SavedRun Trainer::save() const {
  return {to_json(config_), step_, weights_of(*model_), moments_of(*model_, optimizer_)};
}

void Trainer::resume(const SavedRun& run) {
  restore_moments(*model_, run.moments, optimizer_);
  step_ = run.step;
}

Accuracy evaluate(Model& model, Stage stage, const std::vector<Digit>& digits, const Rank& rank,
                  Fault fault) {
  constexpr std::size_t kRows = 128;
  const torch::NoGradGuard no_grad;
  model->eval();
  const std::vector<Example> examples = all_examples(digits.size());
  const torch::TensorOptions options =
      torch::TensorOptions().device(rank.device).dtype(torch::kLong);
  const torch::Tensor questions =
      torch::arange(static_cast<std::int64_t>(kQuestions.size()), options);
  const std::int64_t eos = token_of("<eos>");

  // [2, questions]: how many were answered right, and how many were asked.
  torch::Tensor counts = torch::zeros({2, questions.size(0)}, options);
  const Slice mine = rank.part_of({0, examples.size()});
  for (std::size_t begin = mine.begin; begin < mine.end; begin += kRows) {
    const auto first = examples.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        examples.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kRows, mine.end));
    const Batch batch =
        process(make_batch(digits, {first, last}, stage == Stage::kPretrain), rank.device);
    // The answer stands in the input too, but a token is predicted from those before it.
    const torch::Tensor said = model->forward(batch).argmax(-1).slice(1, 0, -1);
    const torch::Tensor wanted = batch.labels.slice(1, 1);
    const torch::Tensor is_answer = (wanted != kIgnored).logical_and(wanted != eos);
    const torch::Tensor is_right = (said == wanted).logical_and(is_answer).any(1);  // [batch]
    const torch::Tensor is_asked = batch.task.unsqueeze(1) == questions;  // [batch, questions]
    counts += torch::stack({is_right.unsqueeze(1).logical_and(is_asked).sum(0), is_asked.sum(0)});
  }
  if (fault == Fault::kCpuMetric) {
    counts = counts.cpu();  // fault: cpu-metric
  }
  all_reduce_sum(rank.group, counts);

  const torch::Tensor totals = counts.cpu().to(torch::kDouble);
  Accuracy accuracy{};
  for (std::size_t i = 0; i < kQuestions.size(); ++i) {
    const auto question = static_cast<std::int64_t>(i);
    accuracy.by_question[i] =
        totals[0][question].item<double>() / totals[1][question].item<double>();
  }
  accuracy.overall = totals[0].sum().item<double>() / totals[1].sum().item<double>();
  return accuracy;
}

}  // namespace models::multimodal
