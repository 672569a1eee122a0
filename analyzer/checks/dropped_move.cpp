// Finds the statements whose value nobody takes, and asks of each whether it is a move.
#include "dropped_move.h"

#include "../placement/clang_compat.h"
#include "../placement/expressions.h"
#include "../placement/torch_types.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

namespace devsan::lint {
namespace {

// Methods of Tensor that return a new tensor, or the same one, and never change the tensor they are
// called on: dropped, the call did nothing.
bool only_returns(llvm::StringRef method) {
  return StringSwitch<bool>(method)
      .Cases({"to", "cuda", "cpu", "contiguous", "toType", "detach", "clone"}, true)
      .Default(false);
}

const clang::CXXMemberCallExpr* dropped_call(const clang::Expr* statement) {
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(written(statement));
  if (call == nullptr || call->getMethodDecl() == nullptr) return nullptr;
  if (!is_tensor(call->getMethodDecl()->getReturnType())) return nullptr;
  if (!is_tensor(call->getMethodDecl()->getThisType()->getPointeeType())) return nullptr;
  return only_returns(plain_name(call->getMethodDecl())) ? call : nullptr;
}

// `torch::zeros({1}).cuda();`: nobody could have kept the tensor, so the statement is there for
// what it does on the way, which is to start CUDA.
bool warms_up(const clang::CXXMemberCallExpr* call) {
  const auto* made = llvm::dyn_cast<clang::CallExpr>(chain_root(call));
  if (made == nullptr || llvm::isa<clang::CXXOperatorCallExpr>(made)) return false;
  const clang::FunctionDecl* factory = made->getDirectCallee();
  if (factory == nullptr || !factory->getDeclContext()->isNamespace()) return false;
  const auto* space = llvm::cast<clang::NamespaceDecl>(factory->getDeclContext());
  if (plain_name(space) != "torch" && plain_name(space) != "at") return false;
  for (const clang::Expr* argument : made->arguments()) {
    if (is_tensor(argument->getType())) return false;
  }
  return true;
}

// `EXPECT_THROW(t.to(device), c10::Error)`: the call is made to see what it throws.
bool inside_assertion_macro(clang::SourceLocation place, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  while (place.isMacroID()) {
    const llvm::StringRef macro =
        clang::Lexer::getImmediateMacroName(place, sources, context.getLangOpts());
    if (macro.contains("THROW") || macro.contains("DEATH") || macro.starts_with("EXPECT_") ||
        macro.starts_with("ASSERT_") || macro.starts_with("REQUIRE")) {
      return true;
    }
    place = sources.getImmediateMacroCallerLoc(place);
  }
  return false;
}

// True when `object = ...` compiles and, evaluated twice, names the same object without side
// effects.
bool assignable(const clang::Expr* object, const clang::ASTContext& context) {
  object = object->IgnoreParenImpCasts();
  if (!object->isLValue() || object->getType().isConstQualified()) return false;
  if (llvm::isa<clang::DeclRefExpr>(object)) return true;
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(object)) {
    const clang::Expr* base = member->getBase()->IgnoreParenImpCasts();
    return llvm::isa<clang::CXXThisExpr>(base) || llvm::isa<clang::DeclRefExpr>(base) ||
           assignable(base, context) || (member->isArrow() && named_value(base) != nullptr);
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(object)) {
    return unary->getOpcode() == clang::UO_Deref && named_value(unary->getSubExpr()) != nullptr;
  }
  if (const auto* element = llvm::dyn_cast<clang::CXXOperatorCallExpr>(object)) {
    const auto kind = element->getOperator();
    if (kind == clang::OO_Star) return named_value(element->getArg(0)) != nullptr;
    if (kind != clang::OO_Subscript || element->getNumArgs() != 2) return false;
    return named_value(element->getArg(0)) != nullptr &&
           !element->getArg(1)->HasSideEffects(context);
  }
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(object)) {
    return named_value(element->getBase()) != nullptr &&
           !element->getIdx()->HasSideEffects(context);
  }
  return false;
}

class Walk : public clang::RecursiveASTVisitor<Walk> {
 public:
  Walk(clang::ASTContext& context, Report report) : context_(context), report_(report) {}

  // In a template nothing has a type.
  bool shouldVisitTemplateInstantiations() const { return true; }

  // The statements whose value nobody takes: each visitor hands its sub-statements on.
  bool VisitCompoundStmt(clang::CompoundStmt* block) {
    const clang::Stmt* kept =
        value_of_block_ == block && !block->body_empty() ? block->body_back() : nullptr;
    for (const clang::Stmt* statement : block->body()) {
      if (statement != kept) dropped(statement);
    }
    return true;
  }
  bool VisitStmtExpr(clang::StmtExpr* expression) {
    value_of_block_ = expression->getSubStmt();
    return true;
  }
  bool VisitIfStmt(clang::IfStmt* statement) {
    dropped(statement->getThen());
    dropped(statement->getElse());
    return true;
  }
  bool VisitForStmt(clang::ForStmt* loop) {
    dropped(loop->getInit());
    dropped(loop->getInc());
    dropped(loop->getBody());
    return true;
  }
  bool VisitCXXForRangeStmt(clang::CXXForRangeStmt* loop) {
    dropped(loop->getBody());
    return true;
  }
  bool VisitWhileStmt(clang::WhileStmt* loop) {
    dropped(loop->getBody());
    return true;
  }
  bool VisitDoStmt(clang::DoStmt* loop) {
    dropped(loop->getBody());
    return true;
  }
  bool VisitSwitchCase(clang::SwitchCase* label) {
    dropped(label->getSubStmt());
    return true;
  }
  bool VisitLabelStmt(clang::LabelStmt* label) {
    dropped(label->getSubStmt());
    return true;
  }
  bool VisitAttributedStmt(clang::AttributedStmt* statement) {
    dropped(statement->getSubStmt());
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator* operation) {
    if (operation->getOpcode() == clang::BO_Comma) dropped(operation->getLHS());
    return true;
  }
  // A benchmark's loop measures the call it throws away.
  bool TraverseCXXForRangeStmt(clang::CXXForRangeStmt* loop, DataRecursionQueue* = nullptr) {
    const auto* range = loop->getRangeInit();
    if (range != nullptr && is_named(record_of(range->getType()), "benchmark", "State"))
      return true;
    return RecursiveASTVisitor::TraverseCXXForRangeStmt(loop);
  }

 private:
  void dropped(const clang::Stmt* statement) {
    const auto* expression = llvm::dyn_cast_or_null<clang::Expr>(statement);
    if (expression == nullptr) return;
    dropped_value(expression, true);
  }

  // `editable`: an assignment put before the expression would still parse as one.
  void dropped_value(const clang::Expr* expression, bool editable) {
    const clang::Expr* bare = expression->IgnoreParens();
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(bare))
      bare = full->getSubExpr()->IgnoreParens();
    if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(bare)) {
      if (cast->getType()->isVoidType()) return;
    }
    bare = written(bare);
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(bare)) {
      dropped_value(choice->getTrueExpr(), false);
      dropped_value(choice->getFalseExpr(), false);
      return;
    }
    if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(bare)) {
      if (operation->getOpcode() == clang::BO_Comma) dropped_value(operation->getRHS(), editable);
      return;
    }
    const clang::CXXMemberCallExpr* call = dropped_call(bare);
    if (call == nullptr || warms_up(call)) return;
    if (inside_assertion_macro(call->getExprLoc(), context_)) return;
    report_call(call, editable);
  }

  void report_call(const clang::CXXMemberCallExpr* call, bool editable) {
    const std::string method = plain_name(call->getMethodDecl()).str();
    Diagnostic diagnostic;
    diagnostic.rule = kDroppedMove;
    diagnostic.tokens = call->getSourceRange();
    diagnostic.message = "the result of '" + quoted(call, context_) +
                         "' is dropped: Tensor::" + method +
                         " returns a tensor and does not change the one it is called on";
    if (const auto assignment = editable ? assign_to_root(call) : std::nullopt) {
      diagnostic.edits.push_back(*assignment);
      diagnostic.advice = "write '" + assignment->text + quoted(call, context_) + "'";
    }
    report_(diagnostic);
  }

  // Insert `t = ` before the statement, where t is the tensor that a chain of moves begins with.
  std::optional<Edit> assign_to_root(const clang::CXXMemberCallExpr* call) {
    const clang::CXXMemberCallExpr* first = call;
    while (const clang::CXXMemberCallExpr* inner =
               dropped_call(first->getImplicitObjectArgument())) {
      first = inner;
    }
    const auto* callee = llvm::dyn_cast<clang::MemberExpr>(first->getCallee()->IgnoreParens());
    if (callee == nullptr || callee->isImplicitAccess()) return std::nullopt;
    const clang::Expr* object = callee->getBase()->IgnoreParenImpCasts();
    bool through_pointer = false;
    if (const auto* arrow = llvm::dyn_cast<clang::CXXOperatorCallExpr>(object);
        arrow != nullptr && arrow->getOperator() == clang::OO_Arrow) {
      // `p->to(d)` of a smart pointer or an optional: what is assigned is `*p`.
      object = arrow->getArg(0)->IgnoreParenImpCasts();
      through_pointer = true;
      if (arrow->getType()->getPointeeType().isConstQualified()) return std::nullopt;
    } else if (callee->isArrow()) {
      through_pointer = true;
      if (object->getType()->getPointeeType().isConstQualified()) return std::nullopt;
    }
    if (through_pointer ? named_value(object) == nullptr : !assignable(object, context_)) {
      return std::nullopt;
    }
    const auto target = file_range(object->getSourceRange(), context_);
    const auto whole = file_range(call->getSourceRange(), context_);
    if (!target || !whole) return std::nullopt;
    const std::string text = (through_pointer ? "*" : "") + text_of(*target, context_) + " = ";
    return Edit{clang::CharSourceRange::getCharRange(whole->getBegin(), whole->getBegin()), text};
  }

  clang::ASTContext& context_;
  Report report_;
  const clang::Stmt* value_of_block_ = nullptr;  // the block of the statement expression we are in
};

}  // namespace

void check_dropped_moves(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                         Report report) {
  Walk walk(context, report);
  for (clang::Decl* declaration : declarations) walk.TraverseDecl(declaration);
}

}  // namespace devsan::lint
