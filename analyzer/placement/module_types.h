// Members of a model by what Module::to would have to move of them.
#pragma once

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Type.h"

namespace devsan::lint {

// The torch::nn::Module class that a type holds: itself, a ModuleHolder's, what a pointer points
// to. Null when it holds none.
const clang::CXXRecordDecl* module_of(clang::QualType type);

// What a container holds: the element of a vector, array, deque or list, the value of a map. A null
// type for anything else.
clang::QualType element_of(clang::QualType type);

// False for modules that have nothing to move: Dropout, ReLU, pooling, and classes of the project
// without tensors or such modules. True when in doubt.
bool may_have_state(const clang::CXXRecordDecl& module);

// The device that `module->to(device, ...)` moves a module or a script module to. Null for any
// other call, and for a change of the dtype alone.
const clang::Expr* moved_to(const clang::CXXMemberCallExpr& call);

// Sequential, ModuleList, ModuleDict: what they have to move is what was put into them.
bool is_module_container(const clang::CXXRecordDecl& module);

}  // namespace devsan::lint
