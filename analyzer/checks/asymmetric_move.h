// Rule asymmetric-move: one tensor of a call is not moved, and the others are.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kAsymmetricMove = "asymmetric-move";

// `unproven`: notes where the device is not certain as well.
void check_asymmetric_moves(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                            bool unproven, Report report);

}  // namespace devsan::lint
