// A line on stderr that is drawn over, for people: where stderr is no terminal there is none.
#pragma once

#include <cstdint>

namespace models {

class ProgressBar {
 public:
  // `total` is at least 1.
  explicit ProgressBar(std::int64_t total);
  // Wipes the line out.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done) const;

 private:
  std::int64_t total_;
  bool shown_;
};

}  // namespace models
