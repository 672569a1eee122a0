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
    const bool counts = !declaration->isInvalidDecl() &&
                        !llvm::isa<clang::NamespaceDecl, clang::UsingDirectiveDecl>(declaration);
    walk.result.declarations += counts ? 1 : 0;
  }
  return walk.result;
}

}  // namespace devsan::lint
