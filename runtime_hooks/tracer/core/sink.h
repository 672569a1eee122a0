// Where findings go: a JSON file a process, or text on stderr. Never stdout, which is the
// program's.
#pragma once

#include <string>

#include "core/fork_safe.h"
#include "devsan/findings/finding.h"

namespace devsan::trace {

class Sink {
 public:
  // `report_dir` empty: text on stderr. `only_first`: later errors of the process are dropped; else
  // those are that have the cause of an earlier one.
  Sink(std::string report_dir, bool only_first);

  // Whether an error would still be said: making one costs milliseconds.
  bool open();

  // Writes at once, so that a process that is killed keeps what it had.
  void publish(const Finding& error);

  // Whether an error with PyTorch's message in `text` was published.
  bool has_said(const std::string& text);

  // What is known now of the process and its warnings, in place of what was. Writes when it
  // differs; a forked child that has nothing of its own to say writes nothing.
  void update(const ReportedProcess& process, std::vector<Finding> warnings);

  // For a process without a folder: its warnings, as text. Of rank-affinity a process alone cannot
  // tell whether it matters.
  void print_warnings();

 private:
  void become_child();
  bool has_error_at(const SourceRange& place) const;
  void write_file();

  ForkSafeMutex mutex_;
  std::string report_dir_;
  bool only_first_;
  ReportedProcess process_;
  std::vector<Finding> errors_;
  std::vector<Finding> warnings_;
  bool warnings_printed_ = false;
};

}  // namespace devsan::trace
