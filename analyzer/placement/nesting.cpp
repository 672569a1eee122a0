// A walk with its own stack.
#include "nesting.h"

#include <utility>
#include <vector>

#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Stmt.h"

namespace devsan::lint {
namespace {

// Levels of clang's tree; a term of a sum has about three, a call of a chain five. With 8 MB, which
// clang-tidy gives to checks, unoptimised rules come through.
constexpr unsigned kDeepest = 1500;

class Depths {
 public:
  void add(const clang::Decl* declaration) {
    // What declarations stand in is bounded by clang's own limit on brackets.
    if (const auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(declaration)) {
      if (pattern->getTemplatedDecl() != nullptr) add(pattern->getTemplatedDecl());
    } else if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      add_function(*function);
    } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      add(variable->getInit());
    } else if (const auto* field = llvm::dyn_cast<clang::FieldDecl>(declaration)) {
      add(field->getInClassInitializer());
    } else if (const auto* context = llvm::dyn_cast<clang::DeclContext>(declaration)) {
      for (const clang::Decl* inner : context->decls()) add(inner);
    }
  }

  clang::SourceLocation too_deep() {
    while (!waiting_.empty()) {
      const auto [statement, depth] = waiting_.back();
      waiting_.pop_back();
      if (depth > kDeepest) return statement->getBeginLoc();
      if (const auto* local = llvm::dyn_cast<clang::DeclStmt>(statement)) {
        for (const clang::Decl* declaration : local->decls()) {
          if (llvm::isa<clang::TagDecl>(declaration)) add(declaration);
        }
      }
      for (const clang::Stmt* child : statement->children()) add(child, depth + 1);
    }
    return {};
  }

 private:
  void add(const clang::Stmt* statement, unsigned depth = 1) {
    if (statement != nullptr) waiting_.emplace_back(statement, depth);
  }

  void add_function(const clang::FunctionDecl& function) {
    if (!function.doesThisDeclarationHaveABody()) return;
    add(function.getBody());
    const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&function);
    if (constructor == nullptr) return;
    for (const clang::CXXCtorInitializer* initializer : constructor->inits()) {
      add(initializer->getInit());
    }
  }

  std::vector<std::pair<const clang::Stmt*, unsigned>> waiting_;
};

}  // namespace

clang::SourceLocation nested_too_deep(llvm::ArrayRef<clang::Decl*> declarations) {
  Depths depths;
  for (const clang::Decl* declaration : declarations) depths.add(declaration);
  return depths.too_deep();
}

}  // namespace devsan::lint
