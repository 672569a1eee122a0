// How deep code is nested: what walks it recurses, and a stack has an end.
#pragma once

#include "clang/AST/DeclBase.h"
#include "clang/Basic/SourceLocation.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

// A place where statements and expressions stand deeper in each other than the rules can follow;
// invalid when there is none. Machines write such code: a sum of a thousand terms, `else if` over a
// thousand cases. Uses no stack itself.
clang::SourceLocation nested_too_deep(llvm::ArrayRef<clang::Decl*> declarations);

}  // namespace devsan::lint
