// Command lines of nvcc, in the words that compilers for C++ share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

// The others are only for commands of which this is true.
bool is_nvcc(llvm::ArrayRef<std::string> command);

// Long names become short ones (--include-path, --std), values that are joined by '=' stand alone,
// what is meant for the host's compiler (-Xcompiler) is put in its place, and files of options are
// read. All else stays as it is. Paths are relative to `folder`, the command's working directory.
std::vector<std::string> from_nvcc(llvm::ArrayRef<std::string> command, const std::string& folder);

// The include folder of the toolkit that a command's nvcc is part of, when it is named by its path.
std::optional<std::string> toolkit_of_nvcc(llvm::ArrayRef<std::string> command);

}  // namespace devsan::lint
