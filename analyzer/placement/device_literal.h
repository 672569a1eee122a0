// Expressions that name a device outright: `torch::kCUDA`, `"cuda:0"`, `Device(kCUDA, 1)`,
// `.cuda()`.
#pragma once

#include <optional>
#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"

namespace devsan::lint {

enum class Index {
  kNone,      // the thread's current device
  kLiteral,   // a number in the source
  kComputed,  // a value the program works out
};

// An expression that makes a device (or tensor options with one) from an accelerator's name.
struct DeviceSource {
  const clang::Expr* made = nullptr;   // the construction or call
  const clang::Expr* first = nullptr;  // its first argument; null for `.cuda()`
  const clang::Expr* last = nullptr;   // its last written argument
  std::string name;                    // as the program spells it: torch::kCUDA, "cuda:0"
  Index index = Index::kNone;
  const clang::ValueDecl* constant = nullptr;          // the program's constant it is read through
  const clang::ConditionalOperator* choice = nullptr;  // it is one arm of this
};

// What `expression` itself makes, its arguments read through constants. Nothing when it makes no
// device, makes it from something unknown, or names the CPU. `function` is the body in which a
// local variable counts as a constant when nothing assigns to it; may be null.
std::optional<DeviceSource> device_source(const clang::Expr* expression,
                                          const clang::FunctionDecl* function,
                                          const clang::ASTContext& context);

// What a condition asks, where a device literal stands in one of its branches.
struct DeviceQuestion {
  const clang::Expr* tensor = nullptr;  // `x` of `x.is_cuda()`, `x.device().is_cuda()`, ...
  bool availability = false;            // `torch::cuda::is_available()`, `device_count() > 1`, ...
};
DeviceQuestion device_question(const clang::Expr* condition);

}  // namespace devsan::lint
