// Rule stale-device-cache: a cached tensor that stays on the device of the first caller.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kStaleDeviceCache = "stale-device-cache";

void check_stale_device_cache(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                              Report report);

}  // namespace devsan::lint
