// Rule collective-device: a CPU tensor enters an NCCL collective, or code that knows its rank names
// a device by number.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kCollectiveDevice = "collective-device";

void check_collective_devices(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                              const std::string& project_root, Report report);

}  // namespace devsan::lint
