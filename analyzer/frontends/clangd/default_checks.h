// Which rules run in the editor when nobody configured any: all.
#pragma once

#include <string>

#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

// A list as `Checks` of a .clang-tidy has it, with `devsan-*` put in behind the last `-*`: what the
// list says of our rules behind it still holds. A list that turns one of them on by its name is
// left as it is: it says which ones are wanted.
std::string with_devsan_checks(llvm::StringRef checks);

}  // namespace devsan::lint
