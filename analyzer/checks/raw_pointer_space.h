// Rule raw-pointer-space: memory of one kind of device is wrapped or read as another's.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kRawPointerSpace = "raw-pointer-space";

void check_raw_pointer_space(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                             Report report);

}  // namespace devsan::lint
