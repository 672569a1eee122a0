// Rule hidden-sync: a device is waited for, or the same tensor moved again, in every turn of nested
// loops.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kHiddenSync = "hidden-sync";

// `unproven`: notes where the device is not certain as well.
void check_hidden_syncs(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                        bool unproven, Report report);

}  // namespace devsan::lint
