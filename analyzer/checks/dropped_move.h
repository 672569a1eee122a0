// Rule dropped-move: a statement whose value, a tensor that was moved or copied, is thrown away.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kDroppedMove = "dropped-move";

// Looks through every function body below `declarations`.
void check_dropped_moves(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                         Report report);

}  // namespace devsan::lint
