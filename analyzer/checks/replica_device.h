// Rule replica-device: a tensor is shared by replicas on several devices, or a module cannot be
// cloned to one.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kReplicaDevice = "replica-device";

void check_replica_device(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                          Report report);

}  // namespace devsan::lint
