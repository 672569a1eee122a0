// Runs rules over a piece of code against mock_torch, in memory.
#pragma once

#include <string>
#include <vector>

#include "checks/rule_set.h"
#include "devsan/findings/finding.h"

namespace devsan::lint::test {

struct Checked {
  std::string code;  // as parsed
  std::vector<Finding> findings;
  bool compiles = false;

  // The findings' fixes applied.
  std::string fixed() const;
};

// `code` is read after mock_torch's torch/torch.h, or, with DEVSAN_REAL_TORCH in the environment,
// after the real one. It must compile: the test fails when it does
// not. Lines of findings count from the code's own first line. `path` is the file that the code
// claims to be; it is CUDA when that ends in .cu, and then always read with the mock.
Checked check(const std::string& code, const RuleSet& rules = {},
              const std::string& path = "/project/src/code.cpp");

// The same for code that may be broken.
Checked check_anything(const std::string& code, const RuleSet& rules = {},
                       const std::string& path = "/project/src/code.cpp");

// The lines that have a finding, in order.
std::vector<int> lines(const Checked& checked);

}  // namespace devsan::lint::test
