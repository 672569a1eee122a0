// What all processes of a run reported, as one.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan {

struct MergedReport {
  std::vector<Finding> findings;           // see merge_findings
  int traced_processes = 0;                // that had the tracer at work
  std::vector<std::string> still_running;  // processes that the command left behind
  std::vector<std::string> unreadable;     // one line for each file that could not be read
};

// A launcher that failed may end before its ranks do, whose reports are still to come. Waits until
// no process with a report in `folder` runs, or for `at_most`; gives the process numbers of those
// left.
std::vector<std::string> wait_for_processes(const std::filesystem::path& folder,
                                            std::chrono::milliseconds at_most);

// Reads every process's JSON file in `folder`.
MergedReport merge_reports(const std::filesystem::path& folder);

}  // namespace devsan
