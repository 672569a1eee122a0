// Walks code top down and hands on every device literal that decides a placement, with what stands
// around it. The literals that only ask (comparisons, template tags, generators, predicates) end
// here.
#pragma once

#include <optional>
#include <vector>

#include <set>
#include "../placement/device_literal.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace devsan::lint {

struct DeviceUse {
  DeviceSource source;
  // The whole expression that stands for the device: `torch::Device("cuda:0")` around `"cuda:0"`,
  // or the first to the last argument where only those are written.
  clang::SourceRange replaceable;
  // What the nearest `?:` or `if` around it, whose branch it is in, asks.
  DeviceQuestion question;
  const clang::ConditionalOperator* choice = nullptr;  // when that is a `?:`
  const clang::Expr* moved = nullptr;                  // `x` of `x.to(torch::kCUDA)`, `x.cuda()`
  const clang::FunctionDecl* function = nullptr;       // null at namespace scope and in classes
  const clang::LambdaExpr* lambda = nullptr;           // the innermost one around it
  llvm::SmallVector<const clang::Decl*, 4> enclosing;  // outermost first
};

// The uses of one function in the order of the source, or the single use of a declaration outside
// any.
struct DeviceUses {
  const clang::FunctionDecl* function = nullptr;
  std::vector<DeviceUse> uses;
  bool sets_current_device =
      false;  // has a CUDAGuard, calls set_device: index-less then means that
};

// Returns the files in which a member or a parameter is a device: such code is told where to work.
std::set<clang::FileID> find_device_uses(clang::ASTContext& context,
                                         llvm::ArrayRef<clang::Decl*> declarations,
                                         llvm::function_ref<void(const DeviceUses&)> found);

}  // namespace devsan::lint
