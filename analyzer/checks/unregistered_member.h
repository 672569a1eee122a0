// Rule unregistered-member: state of a module that Module::to leaves behind.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kUnregisteredMember = "unregistered-member";

void check_unregistered_members(clang::ASTContext& context,
                                llvm::ArrayRef<clang::Decl*> declarations, Report report);

}  // namespace devsan::lint
