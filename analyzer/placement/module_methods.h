// The methods of a class: their bodies, which call which, and which run only while an object is set
// up.
#pragma once

#include <vector>

#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/DenseSet.h"

namespace devsan::lint {

// The body of a method, null when it has none here.
const clang::FunctionDecl* definition_of(const clang::CXXMethodDecl& method);

// Written by hand: somewhere it has a body.
bool needs_body(const clang::CXXMethodDecl& method);

// With the patterns of method templates.
std::vector<const clang::CXXMethodDecl*> methods_of(const clang::CXXRecordDecl& module);

// Methods that run while the object is set up and never afterwards.
class SetUpMethods {
 public:
  // A Cloneable is made in reset(); any other class's reset() may be called at any time.
  SetUpMethods(const std::vector<const clang::CXXMethodDecl*>& methods, bool cloneable);

  bool contains(const clang::CXXMethodDecl& method) const {
    return members_.contains(method.getCanonicalDecl());
  }

 private:
  llvm::DenseSet<const clang::CXXMethodDecl*> members_;
};

// Tensors of the module's user, or trained ones, come to this method: it is called from outside the
// class, or by methods that such come to. False for constructors, for reset(), and for what only
// those call, or methods that are given no tensor.
bool gets_inputs(const clang::CXXMethodDecl& method);

// Nothing in the function was lost to an error.
bool is_wholly_parsed(const clang::FunctionDecl& definition);

}  // namespace devsan::lint
