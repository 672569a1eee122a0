// Peeling expressions, and mapping them to the text of a file.
#include "expressions.h"

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "torch_types.h"

namespace devsan::lint {

const clang::Expr* written(const clang::Expr* expression) {
  while (true) {
    const clang::Expr* before = expression;
    expression = expression->IgnoreParenCasts();
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expression)) {
      expression = full->getSubExpr();
    } else if (const auto* temporary =
                   llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression)) {
      expression = temporary->getSubExpr();
    } else if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expression)) {
      expression = bound->getSubExpr();
    } else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expression)) {
      const bool copies =
          made->getNumArgs() == 1 && made->getConstructor()->isCopyOrMoveConstructor();
      if (copies) expression = made->getArg(0);
    }
    if (expression == before) return expression;
  }
}

const clang::ValueDecl* named_value(const clang::Expr* expression) {
  expression = written(expression);
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    return reference->getDecl();
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
    const bool of_this = llvm::isa<clang::CXXThisExpr>(written(member->getBase()));
    return of_this ? member->getMemberDecl() : nullptr;
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression)) {
    const bool dereferences = call->getOperator() == clang::OO_Arrow ||
                              (call->getOperator() == clang::OO_Star && call->getNumArgs() == 1);
    return dereferences ? named_value(call->getArg(0)) : nullptr;
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
    return unary->getOpcode() == clang::UO_Deref ? named_value(unary->getSubExpr()) : nullptr;
  }
  return nullptr;
}

bool is_empty_list(const clang::Expr* expression) {
  while (true) {
    expression = written(expression);
    if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(expression)) {
      return list->getNumInits() == 0;
    }
    if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(expression)) {
      expression = list->getSubExpr();
      continue;
    }
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expression);
    if (made == nullptr || made->getNumArgs() > 1) return false;
    if (made->getNumArgs() == 0) return true;
    expression = made->getArg(0);
  }
}

const clang::Expr* chain_root(const clang::Expr* expression) {
  while (true) {
    expression = written(expression);
    const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(expression);
    if (call == nullptr || call->getImplicitObjectArgument() == nullptr) return expression;
    expression = call->getImplicitObjectArgument();
  }
}

clang::FileID file_of(clang::SourceLocation place, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  return sources.getFileID(sources.getExpansionLoc(place));
}

std::optional<clang::CharSourceRange> file_range(clang::SourceRange tokens,
                                                 const clang::ASTContext& context) {
  if (tokens.isInvalid()) return std::nullopt;
  const clang::CharSourceRange range =
      clang::Lexer::makeFileCharRange(clang::CharSourceRange::getTokenRange(tokens),
                                      context.getSourceManager(), context.getLangOpts());
  if (range.isInvalid()) return std::nullopt;
  return range;
}

std::string text_of(clang::CharSourceRange range, const clang::ASTContext& context) {
  return clang::Lexer::getSourceText(range, context.getSourceManager(), context.getLangOpts())
      .str();
}

std::string quoted(const clang::Expr* expression, const clang::ASTContext& context) {
  constexpr std::size_t kLongest = 40;
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::CharSourceRange range =
      clang::CharSourceRange::getTokenRange(sources.getSpellingLoc(expression->getBeginLoc()),
                                            sources.getSpellingLoc(expression->getEndLoc()));
  std::string text;
  for (const char letter : text_of(range, context)) {
    const bool blank = letter == ' ' || letter == '\n' || letter == '\t' || letter == '\r';
    if (blank && (text.empty() || text.back() == ' ')) continue;
    text.push_back(blank ? ' ' : letter);
  }
  if (text.size() > kLongest) text = text.substr(0, kLongest - 3) + "...";
  return text;
}

}  // namespace devsan::lint
