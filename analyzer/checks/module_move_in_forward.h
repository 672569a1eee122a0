// Rule module-move-in-forward: forward moves a submodule, against the placement it was given.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kModuleMoveInForward = "module-move-in-forward";

void check_module_moves_in_forward(clang::ASTContext& context,
                                   llvm::ArrayRef<clang::Decl*> declarations, Report report);

}  // namespace devsan::lint
