// The options, as CLI11 takes them, and what of them goes together.
#include "options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <string_view>

#include "common/option_checks.h"
#include "common/usage_error.h"

namespace models::multimodal {
namespace {

// {none,cpu-pixels,...}
std::string fault_names() {
  std::vector<std::string_view> names;
  for (const FaultInfo& info : kFaults) names.push_back(info.name);
  return fmt::format("{{{}}}", fmt::join(names, ","));
}

std::string footer() {
  std::string text =
      "\nFaults, each a mistake people make; the program then ends by PyTorch's exception:\n";
  for (const FaultInfo& info : kFaults) {
    text += fmt::format("  {:<15} {}\n", info.name, info.summary);
  }
  text +=
      "\nExamples:\n"
      "  multimodal --spawn 2\n"
      "  multimodal --spawn 2 --stage pretrain --checkpoint lmm.pt\n"
      "  torchrun --no-python --nproc-per-node 2 multimodal --stage icv --resume lmm.pt\n";
  return text;
}

std::vector<Stage> stages_of(std::string_view name) {
  if (name == "pretrain") return {Stage::kPretrain};
  if (name == "icv") return {Stage::kIcv};
  return {Stage::kPretrain, Stage::kIcv};
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Trains a small Idefics to answer questions about handwritten digits, then vectors that "
      "stand for the questions, over one or more ranks."};
  app.get_formatter()->column_width(30);
  app.footer(footer());

  std::string backend;
  std::string stage = "both";
  std::string fault = "none";
  std::vector<std::string> faults;
  for (const FaultInfo& info : kFaults) faults.emplace_back(info.name);
  constexpr std::int64_t kMany = 1'000'000'000;
  constexpr int kMostRanks = 1024;

  app.add_option("--data", options.data,
                 "Digits: 64 pixels and a label a line (default: .deps/data/digits.csv, found "
                 "upwards)")
      ->type_name("FILE");
  app.add_option("--spawn", options.spawn,
                 "Run so many ranks on this machine (default: one, or torchrun's)")
      ->type_name("N")
      ->check(whole_number(1, kMostRanks));
  app.add_option("--backend", backend,
                 "nccl: a GPU each; gloo: on the CPU (default: nccl where there are GPUs)")
      ->type_name("nccl|gloo")
      ->check(one_of({"nccl", "gloo"}));
  app.add_option("--stage", stage,
                 "pretrain: all weights; icv: the in-context vectors alone, after --resume")
      ->type_name("pretrain|icv|both")
      ->capture_default_str()
      ->check(one_of({"pretrain", "icv", "both"}));
  app.add_option("--epochs", options.epochs,
                 "Epochs of each stage in all, those before --resume counted (default: 12)")
      ->type_name("N")
      ->check(whole_number(1, kMany));
  app.add_option("--steps", options.steps, "Stop each stage after so many steps of this run")
      ->type_name("N")
      ->check(whole_number(1, kMany));
  app.add_option("--batch", options.batch, "Examples a step, over all ranks (default: 64)")
      ->type_name("N")
      ->check(whole_number(1, kMany));
  app.add_option("--width", options.width, "Width of the model, a multiple of 16 (default: 64)")
      ->type_name("N")
      ->check(whole_number(kHeadWidth, 16384));
  app.add_option("--seed", options.seed, "Of weights, split and order (default: 0)")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()));
  app.add_option("--checkpoint", options.checkpoint,
                 "Write the run here after each epoch and at the end")
      ->type_name("FILE");
  app.add_option("--resume", options.resume, "Go on from this checkpoint")->type_name("FILE");
  app.add_flag("--report-step-time", options.report_step_time, "Print the median time of a step");
  app.add_option("--fault", fault, "Plant a fault")
      ->type_name(fault_names())
      ->check(one_of(faults));

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (--help shows what is accepted)", error.what()));
  }

  if (!backend.empty()) options.backend = backend == "nccl" ? Backend::kNccl : Backend::kGloo;
  options.stages = stages_of(stage);
  for (const FaultInfo& info : kFaults) {
    if (info.name == fault) options.fault = info.fault;
  }
  if (options.width && *options.width % kHeadWidth != 0) {
    throw UsageError(
        fmt::format("--width: {}; accepted: a multiple of {}", *options.width, kHeadWidth));
  }
  return options;
}

RunConfig settle_config(const Options& options, const std::optional<RunConfig>& resumed) {
  RunConfig config = resumed.value_or(RunConfig{});
  const auto settle = [&](const char* name, const auto& given, auto& value) {
    if (given && resumed && *given != value) {
      throw UsageError(fmt::format("{}: the checkpoint was made with another value", name));
    }
    value = given.value_or(value);
  };
  settle("--width", options.width, config.width);
  settle("--seed", options.seed, config.seed);
  settle("--batch", options.batch, config.batch);
  if (!resumed && options.stages.front() == Stage::kIcv) {
    throw UsageError("--stage icv: needs --resume with the weights that --stage pretrain wrote");
  }
  if (resumed && resumed->stage == Stage::kIcv && options.stages.back() == Stage::kPretrain) {
    throw UsageError("--stage pretrain: the checkpoint is of stage icv");
  }
  return config;
}

void check_fault(Fault fault, Backend backend, int world_size, int local_rank) {
  if (fault == Fault::kNone) return;
  if (backend == Backend::kGloo) throw UsageError("this fault needs GPUs and --backend nccl");
  const bool names_gpu_0 = fault == Fault::kTokensLiteral || fault == Fault::kVisionLiteral;
  if (world_size == 1 && ((names_gpu_0 && local_rank == 0) || fault == Fault::kSetDevice)) {
    throw UsageError("this fault needs two ranks, such as --spawn 2");
  }
}

}  // namespace models::multimodal
