// Reading and ordering the reports of all processes.
#include "merged_report.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "devsan/findings/writers.h"

namespace devsan {
namespace {

// Clocks of several machines differ, but ranks meet in every collective: the fault before which
// fewer collectives were seen came first.
auto run_order(const Finding& finding) {
  const RunFacts& run = finding.run.value();
  return std::make_tuple(run.collectives, run.time_us, run.rank);
}

}  // namespace

MergedReport merge_reports(const std::filesystem::path& folder) {
  MergedReport merged;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;  // a file that was being written
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    try {
      for (Finding& finding : read_json(text.str())) {
        if (finding.run) merged.findings.push_back(std::move(finding));
      }
      ++merged.traced_processes;
    } catch (const std::runtime_error& error) {
      merged.unreadable.push_back(fmt::format("the report of process {} could not be read: {}",
                                              entry.path().stem().string(), error.what()));
    }
  }
  std::ranges::sort(merged.findings, {}, run_order);
  return merged;
}

}  // namespace devsan
