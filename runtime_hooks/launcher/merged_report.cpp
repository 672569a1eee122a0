// Reading and ordering the reports of all processes.
#include "merged_report.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "devsan/findings/merge.h"
#include "devsan/findings/writers.h"

namespace devsan {
namespace {

namespace fs = std::filesystem;

bool is_report(const fs::path& file) {
  return file.extension() == ".json";  // any other is still being written
}

// Whether the process does anything yet: one that ended and waits for its parent to ask does not.
bool is_running(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string stat;
  if (!std::getline(file, stat)) return false;
  const std::size_t name_end = stat.rfind(") ");  // a name may hold anything
  return name_end == stat.npos || (stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X');
}

}  // namespace

std::vector<std::string> wait_for_processes(const fs::path& folder,
                                            std::chrono::milliseconds at_most) {
  constexpr std::chrono::milliseconds kPause(20);
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (true) {
    std::vector<std::string> running;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string process = entry.path().stem().string();
      if (is_report(entry.path()) && is_running(process)) running.push_back(process);
    }
    if (running.empty() || std::chrono::steady_clock::now() >= end) return running;
    std::this_thread::sleep_for(kPause);
  }
}

MergedReport merge_reports(const fs::path& folder) {
  MergedReport merged;
  std::vector<ReportedProcess> processes;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!is_report(entry.path())) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    try {
      for (Finding& finding : read_json(text.str())) {
        if (finding.run) merged.findings.push_back(std::move(finding));
      }
      if (const auto process = read_process(text.str())) processes.push_back(*process);
      ++merged.traced_processes;
    } catch (const std::runtime_error& error) {
      merged.unreadable.push_back(fmt::format("the report of process {} could not be read: {}",
                                              entry.path().stem().string(), error.what()));
    }
  }
  drop_what_others_refute(merged.findings, processes);
  merged.findings = merge_findings(std::move(merged.findings));
  return merged;
}

}  // namespace devsan
