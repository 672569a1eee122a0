// `// NOLINT(devsan-…)` and its kin, with clang-tidy's meaning.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

// True when `text`, a whole file, asks for silence about `rule` ("devsan-dropped-move") on `line`,
// which counts from 1: NOLINT on the line, NOLINTNEXTLINE on the one before, or NOLINTBEGIN above
// it without its NOLINTEND. A list in parentheses may use '*'.
bool is_silenced(llvm::StringRef text, unsigned line, llvm::StringRef rule);

}  // namespace devsan::lint
