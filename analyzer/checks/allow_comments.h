// `// devsan: allow(rule) reason`: silence with a reason, which is missed when it is not needed any
// more.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

struct AllowComment {
  unsigned line = 0;    // where it stands, from 1
  unsigned covers = 0;  // the line whose findings it silences: its own, or the one below it
  std::string rule;     // as written, with or without "devsan-"
  bool has_reason = false;
};

// Every such comment of `text`, a whole file; several rules in one pair of parentheses are several.
// One that stands alone on its line speaks of the next line of code.
std::vector<AllowComment> allow_comments(llvm::StringRef text);

// `rule` is without "devsan-".
bool allows(const AllowComment& comment, llvm::StringRef rule, unsigned line);

}  // namespace devsan::lint
