// The device that a piece of code should have used instead of a literal.
#pragma once

#include <optional>
#include <string>

#include "clang/AST/Decl.h"
#include "clang/AST/ExprCXX.h"

namespace devsan::lint {

// An expression of type c10::Device that can be written where the literal stands: `device`,
// `device_`, `options.device()`, `x.device()`. Nothing when there is none or more than one that
// could be meant. `lambda` is the innermost lambda around the place, or null: only its own
// parameters are then surely visible. `moved` is the tensor whose own device would make no sense
// (`x.to(x.device())`), or null.
std::optional<std::string> device_in_scope(const clang::FunctionDecl* function,
                                           const clang::LambdaExpr* lambda,
                                           const clang::ValueDecl* moved);

// Something in scope has a device to follow, be it one of several: a parameter that is a device,
// options or a tensor other than `moved`, or a member of type Device.
bool has_device_in_scope(const clang::FunctionDecl* function, const clang::LambdaExpr* lambda,
                         const clang::ValueDecl* moved);

}  // namespace devsan::lint
