// Where a value that is given to a member of a module lies.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace devsan::lint {

enum class MemberOrigin {
  kNothing,  // nullptr, an undefined tensor
  kDefault,  // made here, on the default device
  kPlaced,   // made here, on a device that the code chose
  kOutside,  // handed in: the owner may have registered it
  kScalar,   // a tensor without dimensions, which works beside any device
};

// Of a value for `self`, a member of type Tensor.
MemberOrigin origin_of_tensor(const clang::Expr* made, const clang::FieldDecl* self);

// Of a value for a member that is a module.
MemberOrigin origin_of_module(const clang::Expr* made);

// The function of LibTorch that is called, null for anything else.
const clang::FunctionDecl* libtorch_callee(const clang::Expr* expression);

}  // namespace devsan::lint
