// The command line of encoder_classifier.
#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fault.h"
#include "run_config.h"

namespace models {

// What the user wrote; empty where nothing was.
struct Options {
  std::filesystem::path data;
  std::string devices;
  std::filesystem::path device_map;
  std::filesystem::path checkpoint;
  std::filesystem::path resume;
  std::int64_t epochs = 6;
  std::optional<std::int64_t> steps;
  Fault fault = Fault::kNone;
  bool report_step_time = false;

  std::optional<Finetune> finetune;
  std::optional<std::int64_t> width, layers, batch, lora_rank;
  std::optional<FeedForward> feed_forward;
  std::optional<std::uint64_t> seed;
  std::optional<double> learning_rate;
};

// Throws UsageError for what is wrong. Nothing, when --help was asked for and printed.
std::optional<Options> parse_options(int argc, char** argv);

// The run the options ask for: defaults, or what `resumed` was made of. Throws UsageError when an
// option contradicts the checkpoint: always for the shape of the model and the seed (it decides
// which sequences are held out), and for the rest when the run goes on in the same mode of
// fine-tuning.
RunConfig settle_config(const Options& options, const RunConfig* resumed);

// Throws UsageError when the fault would do nothing in such a run. `first` and `last` are the
// devices of the embedding and of the head.
void check_fault(Fault fault, const RunConfig& config, c10::Device first, c10::Device last);

}  // namespace models
