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

#include "devsan/findings/writers.h"

namespace devsan::trace {
namespace {

// The same fault: same op and same line to change. A loop that carries on repeats it every step.
bool same_cause(const Finding& a, const Finding& b) {
  return a.rule == b.rule && a.place == b.place && a.run->op.name == b.run->op.name &&
         a.run->op.backward == b.run->op.backward;
}

}  // namespace

Sink::Sink(std::string report_dir, bool only_first)
    : report_dir_(std::move(report_dir)), only_first_(only_first), process_(getpid()) {
  // A report without findings says that this process was traced: silence would say nothing.
  if (!report_dir_.empty()) write_file();
}

bool Sink::open() {
  std::lock_guard lock(mutex_);
  return !only_first_ || findings_.empty() || process_ != getpid();
}

void Sink::publish(const Finding& finding) {
  std::lock_guard lock(mutex_);
  if (process_ != getpid()) {  // a forked child: the parent's findings are the parent's
    process_ = getpid();
    findings_.clear();
  }
  if (only_first_ && !findings_.empty()) return;
  if (std::ranges::any_of(findings_,
                          [&](const Finding& other) { return same_cause(finding, other); })) {
    return;
  }
  findings_.push_back(finding);
  if (!report_dir_.empty()) {
    write_file();
    return;
  }
  std::ostringstream text;
  write_run_text(text, finding, {.color = isatty(STDERR_FILENO) == 1});
  const std::string block = text.str();
  std::fwrite(block.data(), 1, block.size(), stderr);
}

void Sink::write_file() {
  const std::string path = report_dir_ + "/" + std::to_string(process_) + ".json";
  const std::string draft = path + ".part";
  mkdir(report_dir_.c_str(), 0777);
  {
    std::ofstream out(draft, std::ios::trunc);
    write_json(out, findings_);
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
