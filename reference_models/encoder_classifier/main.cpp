// encoder_classifier: trains the classifier and prints how it does, epoch by epoch.
#include <fmt/format.h>
#include <torch/cuda.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "common/devices.h"
#include "common/dispatch.h"
#include "common/usage_error.h"
#include "options.h"
#include "trainer.h"

namespace models {
namespace {

namespace fs = std::filesystem;

// The file that ci/setup puts under the repository, seen from the working folder or from the
// program.
fs::path find_data() {
  const fs::path wanted = fs::path(".deps") / "data" / "AMPvsUniProt.csv";
  for (fs::path folder : {fs::current_path(), fs::read_symlink("/proc/self/exe").parent_path()}) {
    for (; folder != folder.root_path(); folder = folder.parent_path()) {
      if (fs::exists(folder / wanted)) return folder / wanted;
    }
  }
  throw UsageError("no data: give --data FILE, or run ci/setup, which puts " + wanted.string());
}

DeviceMap choose_placement(const Options& options, const EncoderClassifier& model) {
  if (!options.device_map.empty()) {
    std::ifstream file(options.device_map);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) throw UsageError(options.device_map.string() + ": cannot be read");
    return DeviceMap::from_json(text);
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

// A line that is drawn over, for people; a pipe gets none.
class ProgressBar {
 public:
  explicit ProgressBar(std::int64_t total) : total_(total), shown_(isatty(STDERR_FILENO) != 0) {}
  ~ProgressBar() {
    if (shown_) fmt::print(stderr, "\r{:60}\r", "");
  }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done) const {
    constexpr std::int64_t kWidth = 40;
    if (!shown_) return;
    const auto filled = static_cast<std::size_t>(done * kWidth / total_);
    fmt::print(stderr, "\r[{:<{}}] {}/{}", std::string(filled, '#'), kWidth, done, total_);
  }

 private:
  std::int64_t total_;
  bool shown_;
};

// Trains up to step `last`; the mean of the steps' losses. Appends each step's milliseconds.
double train_until(Trainer& trainer, std::int64_t last, std::vector<double>& milliseconds) {
  using Clock = std::chrono::steady_clock;
  const std::int64_t first = trainer.step();
  const ProgressBar bar(last - first);
  torch::Tensor total;
  while (trainer.step() < last) {
    const auto start = Clock::now();
    const torch::Tensor loss = trainer.train_step();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    total = total.defined() ? total + loss : loss;
    bar.show(trainer.step() - first);
  }
  return total.item<double>() / static_cast<double>(last - first);
}

void check_can_write(const fs::path& file) {
  const fs::path folder = fs::absolute(file).parent_path();
  if (fs::is_directory(file) || access(folder.c_str(), W_OK) != 0) {
    throw UsageError(fmt::format("--checkpoint {}: not a file that can be written", file.string()));
  }
}

void run(const Options& options) {
  std::optional<Checkpoint> resumed;
  if (!options.resume.empty()) resumed = read_checkpoint(options.resume);
  const RunConfig config = settle_config(options, resumed ? &*resumed : nullptr);
  if (!options.checkpoint.empty()) check_can_write(options.checkpoint);

  const fs::path data = options.data.empty() ? find_data() : options.data;
  const Dataset dataset = read_dataset(data);
  const Split split = split_by_sequence(dataset, config.seed);

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

  Trainer trainer(model, config, split.train, options.fault);
  const bool goes_on = resumed && resumed->config.finetune == config.finetune;
  if (goes_on) {
    trainer.resume(*resumed);
  } else if (resumed) {
    load_weights(model, resumed->weights);
  }

  fmt::print("data: {} and {} from {}; {} rows to train, {} held out\n", dataset.class_names[0],
             dataset.class_names[1], data.filename().string(), split.train.size(),
             split.held_out.size());
  print_model(model, placement);
  if (resumed) {
    const Evaluation start = evaluate(model, split.held_out);
    fmt::print("from step {} of {}: held-out loss {:.4f}  accuracy {:.4f}\n", resumed->step,
               options.resume.string(), start.loss, start.accuracy);
  }

  const std::int64_t steps_per_epoch = trainer.steps_per_epoch();
  std::int64_t last_step = options.epochs * steps_per_epoch;
  if (options.steps) last_step = std::min(last_step, trainer.step() + *options.steps);
  std::vector<double> milliseconds;
  while (trainer.step() < last_step) {
    const std::int64_t epoch = trainer.step() / steps_per_epoch + 1;
    const std::int64_t epoch_end = std::min(last_step, epoch * steps_per_epoch);
    const double train_loss = train_until(trainer, epoch_end, milliseconds);
    const Evaluation held_out = evaluate(model, split.held_out);
    fmt::print("epoch {}/{} step {}: train loss {:.4f}  held-out loss {:.4f}  accuracy {:.4f}\n",
               epoch, options.epochs, trainer.step(), train_loss, held_out.loss, held_out.accuracy);
    if (!options.checkpoint.empty()) write_checkpoint(options.checkpoint, trainer.checkpoint());
  }

  if (options.report_step_time && !milliseconds.empty()) {
    const auto middle = milliseconds.begin() + static_cast<std::ptrdiff_t>(milliseconds.size() / 2);
    std::nth_element(milliseconds.begin(), middle, milliseconds.end());
    fmt::print("median step: {:.3f} ms of {} steps\n", *middle, milliseconds.size());
  }
}

}  // namespace
}  // namespace models

int main(int argc, char** argv) {
  // A fault ends the program by abort(), which flushes nothing.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  try {
    if (const auto options = models::parse_options(argc, argv)) models::run(*options);
    return 0;
  } catch (const models::UsageError& error) {
    fmt::print(stderr, "encoder_classifier: {}\n", error.what());
    return 2;
  }
}
