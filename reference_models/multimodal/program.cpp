// The run: a plan, ranks, stages, and what is printed of them.
#include "program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <vector>

#include "common/files.h"
#include "common/progress_bar.h"
#include "common/step_clock.h"
#include "common/usage_error.h"
#include "options.h"
#include "spawn.h"
#include "trainer.h"

namespace models::multimodal {
namespace {

constexpr const char* kProgram = "multimodal";
constexpr int kCheckpointVersion = 1;

const char* name_of(Stage stage) {
  return stage == Stage::kPretrain ? "pretrain" : "icv";
}

// All that is read before ranks are started, so that what is wrong is said once.
struct Plan {
  Options options;
  Launch launch;
  Backend backend = Backend::kGloo;
  std::optional<SavedRun> resumed;
  std::optional<RunConfig> resumed_config;
  RunConfig config;
  std::filesystem::path data;
  Split split;
};

Plan make_plan(const Options& options) {
  Plan plan;
  plan.options = options;
  plan.launch = launch_from_environment();
  plan.backend = options.backend.value_or(default_backend());
  if (options.spawn && plan.launch.has_launcher() && !is_spawned_rank()) {
    throw UsageError("--spawn: another launcher has started this rank already");
  }
  if (!options.resume.empty()) {
    plan.resumed = read_run(options.resume, kProgram, kCheckpointVersion);
    plan.resumed_config = run_config_from_json(plan.resumed->config);
  }
  plan.config = settle_config(options, plan.resumed_config);
  if (!options.checkpoint.empty()) check_can_write(options.checkpoint);
  plan.data = options.data.empty() ? find_data("digits.csv") : options.data;
  plan.split = split_digits(read_digits(plan.data), plan.config.seed);

  const int ranks = options.spawn.value_or(plan.launch.world_size);
  check_batch(plan.config, plan.split.train.size(), ranks);
  check_gpus(plan.backend, options.spawn.value_or(plan.launch.local_rank + 1));
  check_fault(options.fault, plan.backend, ranks, plan.launch.local_rank);
  return plan;
}

void print_run(const Plan& plan, const Rank& rank, const Model& model) {
  std::int64_t parameters = 0;
  for (const torch::Tensor& parameter : model->parameters()) parameters += parameter.numel();
  fmt::print("data: {} digits to train, {} held out, {} questions about each; from {}\n",
             plan.split.train.size(), plan.split.held_out.size(), kQuestions.size(),
             plan.data.filename().string());
  fmt::print("ranks: {}, {}, the first on {}\n", rank.launch.world_size,
             plan.backend == Backend::kNccl ? "nccl" : "gloo", rank.device.str());
  fmt::print("model: {} parameters\n", parameters);
}

// Steps until `last`; the mean loss of all ranks' examples. `clock` may be null.
double train_until(Trainer& trainer, std::int64_t last, const Rank& rank, StepClock* clock) {
  const std::int64_t first = trainer.step();
  std::optional<ProgressBar> bar;
  if (rank.launch.is_first()) bar.emplace(last - first);
  torch::Tensor total;
  while (trainer.step() < last) {
    if (clock) clock->start();
    const torch::Tensor loss = trainer.train_step();
    if (clock) clock->stop();
    total = total.defined() ? total + loss : loss;
    if (bar) bar->show(trainer.step() - first);
  }
  all_reduce_sum(rank.group, total);
  return total.item<double>() / static_cast<double>(last - first);
}

void run_stage(const Plan& plan, Stage stage, Model& model, const Rank& rank) {
  constexpr std::int64_t kDefaultEpochs = 12;
  const bool is_first = rank.launch.is_first();
  RunConfig config = plan.config;
  config.stage = stage;
  model->set_stage(stage);
  Trainer trainer(model, config, plan.split.train, rank, plan.options.fault);
  if (plan.resumed && plan.resumed_config->stage == stage) trainer.resume(*plan.resumed);

  const std::int64_t epochs = plan.options.epochs.value_or(kDefaultEpochs);
  const std::int64_t steps_per_epoch = trainer.steps_per_epoch();
  std::int64_t last_step = epochs * steps_per_epoch;
  if (plan.options.steps) last_step = std::min(last_step, trainer.step() + *plan.options.steps);
  StepClock step_clock({rank.device});
  StepClock* clock = plan.options.report_step_time ? &step_clock : nullptr;
  Accuracy accuracy{};
  if (trainer.step() >= last_step) {
    accuracy = evaluate(model, stage, plan.split.held_out, rank, plan.options.fault);
  }
  while (trainer.step() < last_step) {
    const std::int64_t epoch = trainer.step() / steps_per_epoch + 1;
    const std::int64_t epoch_end = std::min(last_step, epoch * steps_per_epoch);
    const double loss = train_until(trainer, epoch_end, rank, clock);
    accuracy = evaluate(model, stage, plan.split.held_out, rank, plan.options.fault);
    if (!is_first) continue;
    fmt::print("{} epoch {}/{} step {}: train loss {:.4f}  which digit {:.4f}  is it even {:.4f}\n",
               name_of(stage), epoch, epochs, trainer.step(), loss, accuracy.by_question[0],
               accuracy.by_question[1]);
    if (!plan.options.checkpoint.empty()) {
      write_run(plan.options.checkpoint, kProgram, kCheckpointVersion, trainer.save());
    }
  }
  if (!is_first) return;
  fmt::print("{}: held-out answer accuracy {:.4f}\n", name_of(stage), accuracy.overall);
  if (clock) clock->print_median();
}

void run_rank(const Plan& plan) {
  const torch::Device device = choose_device(plan.launch, plan.backend, plan.options.fault);
  const Rank rank{plan.launch, join_ranks(plan.launch, plan.backend), device};

  torch::manual_seed(plan.config.seed);
  Model model(idefics_config(plan.config), plan.options.fault);
  if (plan.resumed) model->load_weights(plan.resumed->weights);
  if (plan.launch.is_first()) print_run(plan, rank, model);
  for (const Stage stage : plan.options.stages) {
    const bool is_behind = plan.resumed && plan.resumed_config->stage > stage;
    if (!is_behind) run_stage(plan, stage, model, rank);
  }
  leave_ranks(rank.group);
}

int run(const Options& options, char** argv) {
  const Plan plan = make_plan(options);
  if (options.spawn && !plan.launch.has_launcher()) {
    return run_ranks(*options.spawn, argv);
  }
  run_rank(plan);
  return 0;
}

}  // namespace

int run_program(int argc, char** argv) {
  // A fault ends the program by abort(), which flushes nothing.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  try {
    const auto options = parse_options(argc, argv);
    return options ? run(*options, argv) : 0;
  } catch (const UsageError& error) {
    fmt::print(stderr, "multimodal: {}\n", error.what());
    return 2;
  }
}

}  // namespace models::multimodal
