// The header PCH for those who run the stock clang-tidy.
#pragma once

#include <string>

#include "options.h"

namespace devsan::lint {

// Makes the PCH for the files of `options` and returns what clang-tidy of the same LLVM is to be
// given to use it, one argument a line. Throws std::invalid_argument with one line when the files
// need more than one PCH.
std::string pch_flags(const Options& options);

}  // namespace devsan::lint
