// Options: their names, what each accepts, and how they meet a checkpoint.
#include "options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "common/option_checks.h"
#include "common/usage_error.h"

namespace models {
namespace {

std::string shown(double value) {
  return fmt::format("{}", value);
}
std::string shown(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string shown(std::uint64_t value) {
  return fmt::format("{}", value);
}
std::string shown(Finetune value) {
  return value == Finetune::kLora ? "lora" : "full";
}
std::string shown(FeedForward value) {
  return value == FeedForward::kRelu ? "relu" : "gated-gelu";
}

// {none,labels,...}
std::string fault_names() {
  std::vector<std::string_view> names;
  for (const FaultInfo& info : kFaults) names.push_back(info.name);
  return fmt::format("{{{}}}", fmt::join(names, ","));
}

std::string footer() {
  std::string text =
      "\nFaults, each a mistake people make; the program then ends by PyTorch's exception:\n";
  for (const FaultInfo& info : kFaults) {
    text += fmt::format("  {:<11} {}\n", info.name, info.summary);
  }
  text +=
      "\nExamples:\n"
      "  encoder_classifier --epochs 4 --checkpoint full.pt\n"
      "  encoder_classifier --resume full.pt --finetune lora --devices cuda:0,cuda:1\n";
  return text;
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Trains a T5-style encoder, split over devices, to tell antimicrobial peptides from other "
      "proteins."};
  app.get_formatter()->column_width(30);
  app.footer(footer());

  std::string finetune;
  std::string feed_forward;
  std::string fault = "none";
  std::vector<std::string> faults;
  for (const FaultInfo& info : kFaults) faults.emplace_back(info.name);
  constexpr std::int64_t kMany = 1'000'000'000;

  app.add_option("--data", options.data,
                 "Sequences and labels (default: .deps/data/AMPvsUniProt.csv, found upwards)")
      ->type_name("FILE");
  app.add_option("--devices", options.devices,
                 "Devices to split the model over, such as cuda:0,cuda:1 (default: cuda:0, or cpu "
                 "where there is none)")
      ->type_name("LIST");
  app.add_option("--device-map", options.device_map,
                 "JSON file of module to device, instead of a split by bytes")
      ->type_name("FILE");
  app.add_option(
         "--finetune", finetune,
         "full: train all; lora: freeze the encoder, train adapters and head (default: full)")
      ->type_name("lora|full")
      ->check(one_of({"lora", "full"}));
  app.add_option("--epochs", options.epochs, "Epochs in all, those before --resume counted")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, kMany));
  app.add_option("--steps", options.steps, "Stop after so many steps of this run")
      ->type_name("N")
      ->check(whole_number(1, kMany));
  app.add_option("--batch", options.batch, "Sequences a step (default: 32)")
      ->type_name("N")
      ->check(whole_number(1, kMany));
  app.add_option("--width", options.width, "Width of the model, a multiple of 16 (default: 64)")
      ->type_name("N")
      ->check(whole_number(kHeadWidth, 16384));
  app.add_option("--layers", options.layers, "Blocks of the encoder (default: 4)")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  app.add_option("--feed-forward", feed_forward,
                 "relu: T5; gated-gelu: T5 v1.1 (default: gated-gelu)")
      ->type_name("relu|gated-gelu")
      ->check(one_of({"relu", "gated-gelu"}));
  app.add_option("--lora-rank", options.lora_rank, "Rank of the adapters (default: 8)")
      ->type_name("N")
      ->check(whole_number(1, 16384));
  app.add_option("--learning-rate", options.learning_rate,
                 "Of AdamW, after the warm-up (default: 0.001)")
      ->type_name("X")
      ->check(positive_number());
  app.add_option("--seed", options.seed, "Of weights, split, order and dropout (default: 0)")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()));
  app.add_option("--checkpoint", options.checkpoint,
                 "Write the run here after each epoch and at the end")
      ->type_name("FILE");
  app.add_option("--resume", options.resume,
                 "Go on from this checkpoint; with another --finetune, start from its weights")
      ->type_name("FILE");
  app.add_option("--fault", fault, "Plant a fault")
      ->type_name(fault_names())
      ->check(one_of(faults));
  app.add_flag("--report-step-time", options.report_step_time, "Print the median time of a step");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (--help shows what is accepted)", error.what()));
  }

  if (!finetune.empty()) options.finetune = finetune == "lora" ? Finetune::kLora : Finetune::kFull;
  if (!feed_forward.empty()) {
    options.feed_forward = feed_forward == "relu" ? FeedForward::kRelu : FeedForward::kGatedGelu;
  }
  for (const FaultInfo& info : kFaults) {
    if (info.name == fault) options.fault = info.fault;
  }
  if (options.width && *options.width % kHeadWidth != 0) {
    throw UsageError(
        fmt::format("--width: {}; accepted: a multiple of {}", *options.width, kHeadWidth));
  }
  return options;
}

RunConfig settle_config(const Options& options, const RunConfig* resumed) {
  RunConfig config = resumed ? *resumed : RunConfig{};
  const bool same_mode = resumed && options.finetune.value_or(config.finetune) == config.finetune;
  const auto settle = [&](const char* name, const auto& given, auto& value, bool locked) {
    if (given && locked && *given != value) {
      throw UsageError(fmt::format("{}: the checkpoint was made with {}", name, shown(value)));
    }
    value = given.value_or(value);
  };
  settle("--width", options.width, config.width, resumed);
  settle("--layers", options.layers, config.layers, resumed);
  settle("--feed-forward", options.feed_forward, config.feed_forward, resumed);
  settle("--seed", options.seed, config.seed, resumed);
  settle("--batch", options.batch, config.batch, same_mode);
  settle("--learning-rate", options.learning_rate, config.learning_rate, same_mode);
  settle("--lora-rank", options.lora_rank, config.lora_rank, same_mode);
  settle("--finetune", options.finetune, config.finetune, false);
  if (resumed && !same_mode && config.finetune == Finetune::kFull) {
    throw UsageError("--finetune full: cannot start from a checkpoint with LoRA adapters");
  }
  return config;
}

void check_fault(Fault fault, const RunConfig& config, c10::Device first, c10::Device last) {
  const auto* info = std::find_if(kFaults.begin(), kFaults.end(),
                                  [&](const FaultInfo& entry) { return entry.fault == fault; });
  const auto need = [&](bool is_met, std::string_view what) {
    if (!is_met) throw UsageError(fmt::format("--fault {}: needs {}", info->name, what));
  };
  switch (fault) {
    case Fault::kNone:
      return;
    case Fault::kMask:
      return need(!last.is_cpu(), "a last device that is not cpu");
    case Fault::kLiteral:
      return need(!last.is_cpu() && last.index() != 0, "a last device other than cpu and cuda:0");
    case Fault::kLora:
      need(config.finetune == Finetune::kLora, "--finetune lora");
      [[fallthrough]];
    case Fault::kLabels:
    case Fault::kPooled:
    case Fault::kHeadMoved:
      return need(first != last, "a first and a last device that differ: --devices cuda:0,cuda:1");
  }
}

}  // namespace models
