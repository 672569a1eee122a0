// Counts statements and those with an error in them.
#include "parse_confidence.h"

#include "clang/AST/RecursiveASTVisitor.h"

namespace devsan::lint {
namespace {

bool is_broken(const clang::Stmt* statement) {
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) {
    return expression->containsErrors();
  }
  for (const clang::Decl* declaration : llvm::cast<clang::DeclStmt>(statement)->decls()) {
    if (declaration->isInvalidDecl()) return true;
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
    const clang::Expr* value = variable == nullptr ? nullptr : variable->getInit();
    if (value != nullptr && value->containsErrors()) return true;
  }
  return false;
}

int valid_declarations(const clang::Decl* declaration) {
  if (const auto* space = llvm::dyn_cast<clang::DeclContext>(declaration);
      space != nullptr && llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration)) {
    int count = 0;
    for (const clang::Decl* inner : space->decls()) count += valid_declarations(inner);
    return count;
  }
  return declaration->isInvalidDecl() || llvm::isa<clang::UsingDirectiveDecl>(declaration) ? 0 : 1;
}

class Walk : public clang::RecursiveASTVisitor<Walk> {
 public:
  ParseConfidence result;

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (!function->doesThisDeclarationHaveABody() || function->isDefaulted()) return true;
    ++result.functions;
    const int broken_before = result.broken_statements;
    count(function->getBody());
    const bool broken = function->isInvalidDecl() || result.broken_statements > broken_before;
    if (broken) ++result.broken_functions;
    return true;
  }

 private:
  // Statements that hold others are not counted themselves.
  void count(const clang::Stmt* statement) {
    if (statement == nullptr) return;
    if (!llvm::isa<clang::Expr, clang::DeclStmt>(statement)) {
      for (const clang::Stmt* child : statement->children()) count(child);
      return;
    }
    ++result.statements;
    if (is_broken(statement)) ++result.broken_statements;
  }
};

}  // namespace

ParseConfidence parse_confidence(llvm::ArrayRef<clang::Decl*> declarations) {
  Walk walk;
  for (clang::Decl* declaration : declarations) {
    walk.TraverseDecl(declaration);
    walk.result.declarations += valid_declarations(declaration);
  }
  return walk.result;
}

}  // namespace devsan::lint
