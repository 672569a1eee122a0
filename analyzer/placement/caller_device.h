// Whose device a value is made on: the parameter of the function that it follows.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace devsan::lint {

// The parameter of `function`, a tensor, options or a device, that decides where a device, options
// or a tensor made by a factory or a move is: `x` of `torch::ones({2}, x.options()).cos()`. A
// tensor that is merely computed from a parameter is none. Null when it is unknown, fixed, or when
// `function` gives the parameter a new value.
const clang::ParmVarDecl* caller_device(const clang::Expr* value,
                                        const clang::FunctionDecl& function);

}  // namespace devsan::lint
