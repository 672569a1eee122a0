// The line, and whether anybody sees it.
#include "progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace models {

ProgressBar::ProgressBar(std::int64_t total) : total_(total), shown_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (shown_) fmt::print(stderr, "\r{:60}\r", "");
}

void ProgressBar::show(std::int64_t done) const {
  constexpr std::int64_t kWidth = 40;
  if (!shown_) return;
  const auto filled = static_cast<std::size_t>(done * kWidth / total_);
  fmt::print(stderr, "\r[{:<{}}] {}/{}", std::string(filled, '#'), kWidth, done, total_);
}

}  // namespace models
