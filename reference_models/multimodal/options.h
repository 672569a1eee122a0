// The command line of multimodal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "fault.h"
#include "launch.h"
#include "process_group.h"
#include "run_config.h"

namespace models::multimodal {

// What the user wrote; empty where nothing was.
struct Options {
  std::filesystem::path data;
  std::optional<int> spawn;
  std::optional<Backend> backend;
  std::vector<Stage> stages;  // in the order they run in
  std::optional<std::int64_t> epochs, steps;
  std::optional<std::int64_t> width, batch;
  std::optional<std::uint64_t> seed;
  std::filesystem::path checkpoint;
  std::filesystem::path resume;
  bool report_step_time = false;
  Fault fault = Fault::kNone;
};

// Throws UsageError for what is wrong. Nothing, when --help was asked for and printed.
std::optional<Options> parse_options(int argc, char** argv);

// The run the options ask for: defaults, or what `resumed` was made of. Throws UsageError when an
// option contradicts it, or when the stages that are asked for do not follow on it.
RunConfig settle_config(const Options& options, const std::optional<RunConfig>& resumed);

// Throws UsageError when the fault could not show itself in such a run.
void check_fault(Fault fault, Backend backend, int world_size, int local_rank);

}  // namespace models::multimodal
