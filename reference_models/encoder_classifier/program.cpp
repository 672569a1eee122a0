// What the program does from its options to its last line.
#include "program.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/devices.h"
#include "common/dispatch.h"
#include "common/files.h"
#include "common/progress_bar.h"
#include "common/saved_run.h"
#include "common/step_clock.h"
#include "common/usage_error.h"
#include "options.h"
#include "trainer.h"

namespace models {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "encoder_classifier";
constexpr int kCheckpointVersion = 1;

DeviceMap choose_placement(const Options& options, const EncoderClassifier& model) {
  if (!options.device_map.empty()) {
    const std::vector<char> text = read_file(options.device_map, "device map");
    return DeviceMap::from_json({text.data(), text.size()});
  }
  if (!options.devices.empty())
    return infer_device_map(model->parts(), parse_devices(options.devices));
  const bool has_cuda = torch::cuda::device_count() > 0;
  return infer_device_map(model->parts(),
                          {has_cuda ? torch::Device("cuda:0") : torch::Device("cpu")});
}

void print_model(const EncoderClassifier& model, const DeviceMap& placement) {
  std::int64_t all = 0;
  std::int64_t trained = 0;
  for (const torch::Tensor& parameter : model->parameters()) {
    all += parameter.numel();
    if (parameter.requires_grad()) trained += parameter.numel();
  }
  fmt::print("model: {} parameters, {} of them trained\n", all, trained);
  for (const ModelPart& part : model->parts()) {
    fmt::print("  {:<26} {:>8} KiB  {}\n", part.name, part.bytes / 1024,
               placement.device_for(part.name).str());
  }
}

// Trains up to step `last` and returns the mean of the steps' losses. `clock` may be null.
double train_until(Trainer& trainer, std::int64_t last, StepClock* clock) {
  const std::int64_t first = trainer.step();
  const ProgressBar bar(last - first);
  torch::Tensor total;
  while (trainer.step() < last) {
    if (clock) clock->start();
    const torch::Tensor loss = trainer.train_step();
    if (clock) clock->stop();
    total = total.defined() ? total + loss : loss;
    bar.show(trainer.step() - first);
  }
  return total.item<double>() / static_cast<double>(last - first);
}

// What an earlier run left.
struct Resumed {
  RunConfig config;
  SavedRun run;
};

Resumed read_checkpoint(const fs::path& path) {
  SavedRun run = read_run(path, kProgram, kCheckpointVersion);
  const RunConfig config = run_config_from_json(run.config);
  return {config, std::move(run)};
}

struct PlacedModel {
  EncoderClassifier model;
  DeviceMap placement;
};

// The model with its first weights, which depend on the seed alone, on its devices, with its
// adapters.
PlacedModel build_model(const Options& options, const RunConfig& config) {
  torch::manual_seed(config.seed);
  EncoderClassifier model(encoder_config(config, kVocabulary), kPadding, options.fault);
  const DeviceMap placement = choose_placement(options, model);
  place(*model, placement);
  check_fault(options.fault, config, device_of(*model->shared), device_of(*model->classifier));
  if (config.finetune == Finetune::kLora) {
    LoraConfig lora;
    lora.rank = config.lora_rank;
    lora.alpha = config.lora_alpha;
    model->add_lora(lora);
  }
  return {model, placement};
}

void train(const Options& options, Trainer& trainer, EncoderClassifier& model,
           const std::vector<Sequence>& held_out, StepClock* clock) {
  const std::int64_t steps_per_epoch = trainer.steps_per_epoch();
  std::int64_t last_step = options.epochs * steps_per_epoch;
  if (options.steps) last_step = std::min(last_step, trainer.step() + *options.steps);
  if (trainer.step() >= last_step) {
    fmt::print("nothing to train: {} epochs are done; --epochs says {}\n",
               trainer.step() / steps_per_epoch, options.epochs);
    return;
  }
  while (trainer.step() < last_step) {
    const std::int64_t epoch = trainer.step() / steps_per_epoch + 1;
    const std::int64_t epoch_end = std::min(last_step, epoch * steps_per_epoch);
    const double train_loss = train_until(trainer, epoch_end, clock);
    const Evaluation evaluation = evaluate(model, held_out);
    fmt::print("epoch {}/{} step {}: train loss {:.4f}  held-out loss {:.4f}  accuracy {:.4f}\n",
               epoch, options.epochs, trainer.step(), train_loss, evaluation.loss,
               evaluation.accuracy);
    if (!options.checkpoint.empty())
      write_run(options.checkpoint, kProgram, kCheckpointVersion, trainer.save());
  }
  if (clock) clock->print_median();
}

void run(const Options& options) {
  std::optional<Resumed> resumed;
  if (!options.resume.empty()) resumed = read_checkpoint(options.resume);
  const RunConfig config = settle_config(options, resumed ? &resumed->config : nullptr);
  if (!options.checkpoint.empty()) check_can_write(options.checkpoint);

  const fs::path data = options.data.empty() ? find_data("AMPvsUniProt.csv") : options.data;
  const Dataset dataset = read_dataset(data);
  const Split split = split_by_sequence(dataset, config.seed);
  auto [model, placement] = build_model(options, config);
  Trainer trainer(model, config, split.train, options.fault);
  if (resumed && resumed->config.finetune == config.finetune) {
    trainer.resume(resumed->run);
  } else if (resumed) {
    load_weights(model, resumed->run.weights);
  }

  fmt::print("data: {} and {} from {}; {} rows to train, {} held out\n", dataset.class_names[0],
             dataset.class_names[1], data.filename().string(), split.train.size(),
             split.held_out.size());
  print_model(model, placement);
  if (resumed) {
    const Evaluation start = evaluate(model, split.held_out);
    fmt::print("from step {} of {}: held-out loss {:.4f}  accuracy {:.4f}\n", resumed->run.step,
               options.resume.string(), start.loss, start.accuracy);
  }
  std::vector<torch::Device> devices;
  for (const auto& [name, device] : placement.entries()) devices.push_back(device);
  StepClock clock(devices);
  train(options, trainer, model, split.held_out, options.report_step_time ? &clock : nullptr);
}

}  // namespace

int run_program(int argc, char** argv) {
  // A fault ends the program by abort(), which flushes nothing.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  try {
    if (const auto options = parse_options(argc, argv)) run(*options);
    return 0;
  } catch (const UsageError& error) {
    fmt::print(stderr, "{}: {}\n", kProgram, error.what());
    return 2;
  }
}

}  // namespace models
