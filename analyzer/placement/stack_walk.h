// A walk over statements that knows what stands around each: clang's own parent map, which costs a
// second a unit, is never built.
#pragma once

#include <utility>
#include <vector>

#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

// `Derived` gets `void visit(const clang::Stmt* statement, llvm::ArrayRef<const clang::Stmt*>
// around)` for every statement and expression, parents before children; `around` is outermost first
// and without the statement itself. Bodies of lambdas belong to the walk.
template <typename Derived>
class StackWalk : public clang::RecursiveASTVisitor<Derived> {
  using Base = clang::RecursiveASTVisitor<Derived>;

 public:
  bool dataTraverseStmtPre(clang::Stmt* statement) {
    static_cast<Derived*>(this)->visit(statement, stack_);
    stack_.push_back(statement);
    return true;
  }
  bool dataTraverseStmtPost(clang::Stmt*) {
    stack_.pop_back();
    return true;
  }

  // Initialiser lists have two forms; conversions are only in the semantic one.
  bool TraverseInitListExpr(clang::InitListExpr* list,
                            typename Base::DataRecursionQueue* = nullptr) {
    clang::InitListExpr* semantic = list->isSemanticForm() ? list : list->getSemanticForm();
    if (semantic == nullptr) semantic = list;
    for (clang::Expr* element : semantic->inits()) {
      if (element != nullptr && !Base::TraverseStmt(element)) return false;
    }
    return true;
  }

 private:
  std::vector<const clang::Stmt*> stack_;
};

// The same walk for rules that ask about functions: `function_` is the one around, null outside of
// any. Patterns of templates are left out, since nothing in them has a type.
template <typename Derived>
class FunctionWalk : public StackWalk<Derived> {
 public:
  bool TraverseDecl(clang::Decl* declaration) {
    const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(declaration);
    if (function == nullptr) return StackWalk<Derived>::TraverseDecl(declaration);
    if (function->isDependentContext()) return true;
    const clang::FunctionDecl* outer = std::exchange(function_, function);
    const bool go_on = StackWalk<Derived>::TraverseDecl(declaration);
    function_ = outer;
    return go_on;
  }

 protected:
  const clang::FunctionDecl* function_ = nullptr;
};

}  // namespace devsan::lint
