// What a torch::nn::Module does with its own members: which it makes, registers, moves and uses.
#pragma once

#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"

namespace devsan::lint {

enum class MemberKind { kTensor, kModule, kContainer };

// A place in the class's code. `branches` are the ifs, switches and `?:` around it, outermost
// first.
struct MemberPlace {
  const clang::Expr* expression = nullptr;
  const clang::FunctionDecl* function = nullptr;  // null in a member's own initialiser
  llvm::SmallVector<const clang::Stmt*, 2> branches;
  bool filled = false;  // put into the member, not given to it
};

struct MemberFacts {
  const clang::FieldDecl* field = nullptr;
  MemberKind kind = MemberKind::kTensor;

  // Values it is given while the object is set up: in a constructor, in reset() and in what only
  // those call. For containers, and modules that contain, what is put into them.
  std::vector<MemberPlace> made;
  std::vector<MemberPlace> registered;
  // Where another tensor meets it, or where a module is called.
  std::vector<MemberPlace> used;

  bool replaced = false;  // given a new value, or moved, outside the set-up
  bool escapes = false;   // handed on to where it cannot be followed
};

struct ModuleFacts {
  // Every method, constructor and base was read to its end: only then can one conclude from what is
  // not there.
  bool wholly_seen = true;
  std::vector<MemberFacts> members;  // tensors, modules and containers of them, in order
};

ModuleFacts module_facts(const clang::CXXRecordDecl& module);

// The plain name of what a call calls, also in templates where it is not resolved yet.
llvm::StringRef callee_name(const clang::CallExpr& call);

// register_buffer, register_parameter, register_module, replace_module.
bool is_registration(llvm::StringRef callee);

}  // namespace devsan::lint
