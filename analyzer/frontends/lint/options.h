// The command line of `devsan lint`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/rule_set.h"
#include "devsan/findings/writers.h"

namespace devsan::lint {

struct Options {
  std::vector<std::string> paths;  // files and folders, as given
  std::string build_folder;        // holds compile_commands.json; empty: look for it
  std::string torch;               // where LibTorch is; empty: look for it
  std::string rules;               // what --rules says, checked
  Format format = Format::kText;
  std::string output;  // empty: stdout
  bool fix = false;
  std::string since;           // a git revision: only what changed since is reported
  std::string baseline;        // a file of findings that are not reported
  std::string write_baseline;  // where to write this run's
  std::string suppressions;
  unsigned threads = 0;  // 0: cores
  bool cache = true;
  bool print_pch_flags = false;
  std::uint64_t cache_limit = std::uint64_t{2} << 30;  // bytes
};

// Thrown for --help and --version: `text` goes to stdout and the exit code is 0.
struct HelpRequested {
  std::string text;
};

// Throws std::invalid_argument with one line that says what is wrong and what is accepted.
Options parse_options(int argc, const char* const* argv);

}  // namespace devsan::lint
