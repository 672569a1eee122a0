// A suppression file: findings that a project lives with, by rule and file, each with a reason.
#pragma once

#include <string>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan::lint {

class Suppressions {
 public:
  // A line is `rule:files reason`; `*` and `?` stand for letters in both, `#` begins a comment, and
  // a path is matched from any folder on: `devsan-unmoved-tensor:legacy/*.cpp host only`. Throws
  // std::invalid_argument with file and line when one is not like this.
  explicit Suppressions(const std::string& path);

  // Removes what is suppressed; returns how many.
  int apply(std::vector<Finding>& findings);

  // `file:line: text` of those that have suppressed nothing.
  std::vector<std::string> stale() const;

 private:
  struct Entry {
    std::string rule;
    std::string files;
    std::string place;
    std::string text;
    bool used = false;
  };

  static bool matches(const Entry& entry, const Finding& finding);

  std::vector<Entry> entries_;
};

}  // namespace devsan::lint
