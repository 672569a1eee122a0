// Rule load-without-device: what is loaded goes to the device in the file, in code that chooses
// one.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kLoadWithoutDevice = "load-without-device";

void check_loads_without_device(clang::ASTContext& context,
                                llvm::ArrayRef<clang::Decl*> declarations, Report report);

}  // namespace devsan::lint
