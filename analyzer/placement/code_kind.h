// What a piece of code is for: a literal device in a model is a fault, in a program's set-up a
// choice.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

enum class CodeKind {
  kModule,   // inside a torch::nn::Module or a torch::autograd::Function
  kLibrary,  // anything that other code calls
  kSetUp,    // main, what parses its arguments, other functions of its file, configuration structs
  kTest,     // by path, or inside a test macro of GoogleTest, Catch2, Boost
};

// True for paths like tests/model.cpp, model_test.cc, bench/op.cpp. Give it the part of the path
// below the project, so that where a checkout lies does not matter.
bool is_test_path(llvm::StringRef path);

class CodeKinds {
 public:
  // `project_root` may be empty: then whole paths are looked at. `declarations` are the translation
  // unit's own ones at top level, in which main is looked for.
  CodeKinds(const clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
            std::string project_root);

  // `enclosing` are the declarations around the place, outermost first.
  CodeKind of(llvm::ArrayRef<const clang::Decl*> enclosing, clang::SourceLocation place) const;

 private:
  bool in_test_file(clang::SourceLocation place) const;

  const clang::ASTContext& context_;
  std::string project_root_;
  bool main_file_is_program_ = false;
};

}  // namespace devsan::lint
