// Where a tensor is when one expression tells: for rules that ask about a single argument and need
// no paths. What several assignments or calls could have changed is unknown; the flow analysis
// follows those.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"

namespace devsan::lint {

enum class PlainDevice { kUnknown, kCpu, kCuda };

// What a c10::Device, a DeviceType, a string or options name outright, or through the one value
// that a variable of `function` has. `function` may be null.
PlainDevice named_device(const clang::Expr* expression, const clang::FunctionDecl* function);

// Of a tensor: a factory's, a move's, or that of the one value that a variable of `function` has.
PlainDevice plain_device(const clang::Expr* tensor, const clang::FunctionDecl* function);

// The initialiser of a local variable that nothing in `function` changes afterwards. Null
// otherwise.
const clang::Expr* only_value(const clang::ValueDecl* variable,
                              const clang::FunctionDecl* function);

// A body that is seen calls nothing that moves a tensor. `callee` may be null.
bool takes_as_it_is(const clang::FunctionDecl* callee);

// An expression of a tensor without dimensions, as far as the same one expression tells.
bool is_plain_scalar(const clang::Expr* tensor, const clang::FunctionDecl* function);

// True when something in `body` gives `variable` a new value, or may do so.
bool may_change(const clang::Stmt* body, const clang::ValueDecl* variable);

}  // namespace devsan::lint
