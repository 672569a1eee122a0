// Names for what values are read from: a variable, `this`, or an expression, and members of it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

class Paths;

// `batch`, `batch.pixels`, `this`, what an expression gives. A member is named by its field, an
// element of a tuple by its number. Pointers, optionals and containers add nothing: what they hold
// is at the same path. Each path exists once, so that paths are equal when their addresses are.
class Path {
 public:
  // Of a root: null when it is no variable, or no expression.
  const clang::ValueDecl* variable() const;
  const clang::Expr* expression() const;
  bool is_root() const { return parent_ == nullptr; }
  const Path* parent() const { return parent_; }
  const std::string& step() const { return step_; }  // empty for a root
  const Path* root() const { return parent_ == nullptr ? this : parent_->root(); }
  bool begins_at_this() const { return root()->kind_ == Kind::kThis; }
  bool is_result() const { return kind_ == Kind::kResult; }

  const Path* member(llvm::StringRef step) const;

  // As the program writes it: `batch.pixels`, `mean_` for `this->mean_`. Empty when it begins at an
  // expression.
  std::string text() const;

  // In order of creation, which is that of the analysis.
  bool operator<(const Path& other) const { return number_ < other.number_; }

 private:
  friend class Paths;
  enum class Kind : unsigned char { kVariable, kExpression, kThis, kResult, kMember };
  Path(Paths& paths, Kind kind, const void* key, const Path* parent, std::string step);

  Paths& paths_;
  Kind kind_;
  const void* key_;
  const Path* parent_;
  std::string step_;
  unsigned number_;
  mutable std::map<std::string, std::unique_ptr<Path>, std::less<>> members_;
};

// Steps that are no members. One of the devices that a variable was set to in branches:
inline constexpr llvm::StringLiteral kChosen = "?";
// The CUDA device whose index a variable holds:
inline constexpr llvm::StringLiteral kIndexed = "#";

// Owns the paths of a translation unit.
class Paths {
 public:
  const Path* of(const clang::ValueDecl* variable);
  const Path* of(const clang::Expr* expression);
  const Path* this_object();
  const Path* result();  // what the function returns

 private:
  friend class Path;
  const Path* root_of(Path::Kind kind, const void* key);

  std::map<std::pair<Path::Kind, const void*>, std::unique_ptr<Path>> roots_;
  unsigned count_ = 0;
};

}  // namespace devsan::lint
