// Writing findings so that a reader never sees half a file.
#include "core/sink.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "devsan/findings/merge.h"
#include "devsan/findings/writers.h"

namespace devsan::trace {
Sink::Sink(std::string report_dir, bool only_first)
    : report_dir_(std::move(report_dir)), only_first_(only_first) {
  process_.pid = getpid();
  // A report without findings says that this process was traced: silence would say nothing.
  if (!report_dir_.empty()) write_file();
}

// A forked child: the parent's findings are the parent's.
void Sink::become_child() {
  process_ = {};
  process_.pid = getpid();
  errors_.clear();
  warnings_.clear();
}

bool Sink::open() {
  std::lock_guard lock(mutex_);
  return !only_first_ || errors_.empty() || process_.pid != getpid();
}

bool Sink::has_said(const std::string& text) {
  std::lock_guard lock(mutex_);
  return process_.pid == getpid() && std::ranges::any_of(errors_, [&](const Finding& finding) {
           const std::string& said = finding.run->error;
           return !said.empty() && text.find(said) != text.npos;
         });
}

void Sink::publish(const Finding& error) {
  std::lock_guard lock(mutex_);
  if (process_.pid != getpid()) become_child();
  if (only_first_ && !errors_.empty()) return;
  if (std::ranges::any_of(errors_,
                          [&](const Finding& other) { return same_cause(error, other); })) {
    return;
  }
  errors_.push_back(error);
  if (!report_dir_.empty()) {
    write_file();
    return;
  }
  std::ostringstream text;
  write_run_text(text, error, {.color = isatty(STDERR_FILENO) == 1});
  const std::string block = text.str();
  std::fwrite(block.data(), 1, block.size(), stderr);
}

void Sink::update(const ReportedProcess& process, std::vector<Finding> warnings) {
  std::lock_guard lock(mutex_);
  if (process_.pid != getpid()) {
    if (warnings.empty()) return;
    become_child();
  }
  if (process_ == process && warnings_ == warnings) return;
  process_ = process;
  warnings_ = std::move(warnings);
  if (!report_dir_.empty()) write_file();
}

// Of a line that is to change because of an error, a warning says nothing new.
bool Sink::has_error_at(const SourceRange& place) const {
  return std::ranges::any_of(errors_, [&](const Finding& error) {
    return place.known() && error.place.file == place.file && error.place.line == place.line;
  });
}

void Sink::print_warnings() {
  std::lock_guard lock(mutex_);
  if (!report_dir_.empty() || warnings_printed_ || process_.pid != getpid()) return;
  warnings_printed_ = true;
  std::ostringstream text;
  for (const Finding& warning : warnings_) {
    if (warning.rule == "rank-affinity" || has_error_at(warning.place)) continue;
    write_run_text(text, warning, {.color = isatty(STDERR_FILENO) == 1});
  }
  const std::string block = text.str();
  std::fwrite(block.data(), 1, block.size(), stderr);
}

void Sink::write_file() {
  const std::string path = report_dir_ + "/" + std::to_string(process_.pid) + ".json";
  const std::string draft = path + ".part";
  mkdir(report_dir_.c_str(), 0777);
  {
    std::ofstream out(draft, std::ios::trunc);
    std::vector<Finding> findings = errors_;
    std::ranges::copy_if(warnings_, std::back_inserter(findings),
                         [this](const Finding& warning) { return !has_error_at(warning.place); });
    write_json(out, findings, &process_);
    out.flush();
    if (!out) {
      std::fprintf(stderr, "DevSan: cannot write %s: %s\n", draft.c_str(), std::strerror(errno));
      return;
    }
  }
  if (std::rename(draft.c_str(), path.c_str()) != 0) {
    std::fprintf(stderr, "DevSan: cannot write %s: %s\n", path.c_str(), std::strerror(errno));
  }
}

}  // namespace devsan::trace
