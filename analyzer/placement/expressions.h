// Reading expressions: what stands behind casts and temporaries, and where it is spelled in the
// file.
#pragma once

#include <optional>
#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceLocation.h"

namespace devsan::lint {

// The expression as written: without parentheses, casts, temporaries, copies and conversions that
// the compiler added.
const clang::Expr* written(const clang::Expr* expression);

// The variable, parameter or member of `this` that an expression names, through `*` and `->`. Null
// when it names none.
const clang::ValueDecl* named_value(const clang::Expr* expression);

// `{}` where sizes are asked for: no dimensions.
bool is_empty_list(const clang::Expr* expression);

// The object at the left end of a chain of member calls: `x` of `x.view(-1).to(d)`.
const clang::Expr* chain_root(const clang::Expr* expression);

// How many arguments of a call or construction are written, default arguments aside.
template <typename Call>
unsigned written_arguments(const Call& call) {
  unsigned count = 0;
  while (count < call.getNumArgs() && !llvm::isa<clang::CXXDefaultArgExpr>(call.getArg(count))) {
    ++count;
  }
  return count;
}

// The file in which `place` stands, after macros.
clang::FileID file_of(clang::SourceLocation place, const clang::ASTContext& context);

// The range as characters of one file, or nothing when it begins or ends inside a macro's own text
// and so cannot be edited. What is spelled in a macro's argument can.
std::optional<clang::CharSourceRange> file_range(clang::SourceRange tokens,
                                                 const clang::ASTContext& context);

// The text of a file range.
std::string text_of(clang::CharSourceRange range, const clang::ASTContext& context);

// The text of an expression in one line, as a message quotes it: at most 40 bytes.
std::string quoted(const clang::Expr* expression, const clang::ASTContext& context);

}  // namespace devsan::lint
