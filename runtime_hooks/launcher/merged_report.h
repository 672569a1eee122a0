// What all processes of a run reported, as one.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan {

struct MergedReport {
  std::vector<Finding> findings;        // in the order of the run: collectives seen, then clock
  int traced_processes = 0;             // that had the tracer at work
  std::vector<std::string> unreadable;  // one line for each file that could not be read
};

// Reads every process's JSON file in `folder`.
MergedReport merge_reports(const std::filesystem::path& folder);

}  // namespace devsan
