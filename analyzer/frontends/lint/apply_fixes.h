// Applies fix-its to files: each file wholly or not at all, each finding's edits together or not at
// all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan::lint {

struct FixOutcome {
  std::vector<bool> fixed;            // for each finding, whether its edits are in the file now
  std::vector<std::string> failures;  // one line for each file that could not be written
};

FixOutcome apply_fixes(std::span<const Finding> findings);

// `text` with the edits of those findings that have any and overlap no earlier one's; `applied`
// gets their places in `findings`. All edits must be of the file that `text` is.
std::string with_fixes(const std::string& text, std::span<const Finding* const> findings,
                       std::vector<std::size_t>& applied);

}  // namespace devsan::lint
