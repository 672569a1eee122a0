// Rule optimizer-placement: an optimizer's state or gradients stay behind when the parameters are
// moved.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kOptimizerPlacement = "optimizer-placement";

void check_optimizer_placement(clang::ASTContext& context,
                               llvm::ArrayRef<clang::Decl*> declarations, Report report);

}  // namespace devsan::lint
