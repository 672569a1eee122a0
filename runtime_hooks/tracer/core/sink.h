// Where findings go: a JSON file a process, or text on stderr. Never stdout, which is the
// program's.
#pragma once

#include <string>

#include "core/fork_safe.h"
#include "devsan/findings/finding.h"

namespace devsan::trace {

class Sink {
 public:
  // `report_dir` empty: text on stderr. `only_first`: later findings of the process are dropped;
  // else those are that have the cause of an earlier one.
  Sink(std::string report_dir, bool only_first);

  // Whether a finding would still be said: making one costs milliseconds.
  bool open();

  // Writes at once, so that a process that is killed keeps what it had.
  void publish(const Finding& finding);

 private:
  void write_file();

  ForkSafeMutex mutex_;
  std::string report_dir_;
  bool only_first_;
  std::int64_t process_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace devsan::trace
