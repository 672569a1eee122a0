// Who works on the thread's current device: kernels, streams and library handles that no device
// guard stands before, and the calls by which that question reaches other functions.
#pragma once

#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"

namespace devsan::lint {

struct CurrentDeviceUse {
  enum class Kind { kLaunch, kStream, kHandle };

  Kind kind = Kind::kLaunch;
  const clang::Expr* place = nullptr;
  std::string name;  // of the kernel, or of the function that was asked
};

struct OwnCall {
  const clang::Expr* place = nullptr;
  const clang::FunctionDecl* callee = nullptr;  // the project's own; a template's pattern
  bool guarded = false;
  bool gives_pointer = false;  // to memory, as an argument
};

struct CurrentDeviceFacts {
  const clang::FunctionDecl* function = nullptr;  // has a body; may be a template's pattern
  std::vector<CurrentDeviceUse> unguarded;
  std::vector<OwnCall> calls;
  bool wholly_seen = true;  // nothing in it failed to parse
};

struct UnitCurrentDevice {
  std::vector<CurrentDeviceFacts> functions;             // in the order of the source
  llvm::DenseSet<const clang::FunctionDecl*> handed_on;  // registered, bound, put into a variable
};

UnitCurrentDevice current_device_facts(clang::ASTContext& context,
                                       llvm::ArrayRef<clang::Decl*> declarations);

}  // namespace devsan::lint
