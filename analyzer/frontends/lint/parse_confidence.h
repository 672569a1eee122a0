// How much of a file clang understood: files are read without their dependencies, and a finding, or
// the lack of one, is worth what the parse was.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace clang {
class Decl;
}

namespace devsan::lint {

struct ParseConfidence {
  int functions = 0;         // with a body
  int broken_functions = 0;  // an error in the body or the signature
  int statements = 0;        // expressions and declarations that stand alone
  int broken_statements = 0;
  int declarations = 0;  // valid ones in namespaces, `using namespace` aside

  // Share of the statements that are clean, 1 when there are none.
  double share() const {
    return statements == 0 ? 1.0 : 1.0 - static_cast<double>(broken_statements) / statements;
  }
};

ParseConfidence parse_confidence(llvm::ArrayRef<clang::Decl*> declarations);

}  // namespace devsan::lint
