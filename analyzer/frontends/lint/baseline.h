// A baseline: the findings that were there when a project began to be checked. Only new ones are
// reported.
#pragma once

#include <string>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan::lint {

// Findings are known again by rule, file name, message and the text of their line, so they may move
// within the file. Throws std::runtime_error when the file cannot be written.
void write_baseline(const std::string& path, const std::vector<Finding>& findings);

// Removes from `findings` what the baseline has, each as often as it has it; returns how many.
// Throws std::invalid_argument with one line when the file is none.
int subtract_baseline(const std::string& path, std::vector<Finding>& findings);

}  // namespace devsan::lint
