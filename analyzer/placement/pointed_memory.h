// Which memory a raw pointer leads to, when what made it tells: a tensor, a container, an
// allocation.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "plain_device.h"

namespace devsan::lint {

struct PointedMemory {
  PlainDevice device = PlainDevice::kUnknown;
  const clang::Expr* owner = nullptr;   // the tensor, container, array or variable; may be null
  const clang::Expr* made = nullptr;    // the expression that gives the pointer
  const clang::Expr* tensor = nullptr;  // the owner, when it is one
};

// Through casts, offsets and variables that have one value in `function`, which may be null.
// Managed, pinned and registered memory is unknown: both sides may use it.
PointedMemory pointed_memory(const clang::Expr* pointer, const clang::FunctionDecl* function);

}  // namespace devsan::lint
