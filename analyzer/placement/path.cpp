// Interning, and the program's spelling of a path.
#include "path.h"

#include "llvm/ADT/StringExtras.h"

namespace devsan::lint {

Path::Path(Paths& paths, Kind kind, const void* key, const Path* parent, std::string step)
    : paths_(paths),
      kind_(kind),
      key_(key),
      parent_(parent),
      step_(std::move(step)),
      number_(paths.count_++) {}

const clang::ValueDecl* Path::variable() const {
  return kind_ == Kind::kVariable ? static_cast<const clang::ValueDecl*>(key_) : nullptr;
}

const clang::Expr* Path::expression() const {
  return kind_ == Kind::kExpression ? static_cast<const clang::Expr*>(key_) : nullptr;
}

const Path* Path::member(llvm::StringRef step) const {
  const auto entry = members_.find(std::string_view(step));
  if (entry != members_.end()) return entry->second.get();
  std::unique_ptr<Path> made(new Path(paths_, Kind::kMember, nullptr, this, step.str()));
  return members_.emplace(step.str(), std::move(made)).first->second.get();
}

std::string Path::text() const {
  if (parent_ == nullptr) {
    return variable() == nullptr ? std::string() : variable()->getNameAsString();
  }
  const std::string whole = parent_->text();
  if (step_ == kChosen || step_ == kIndexed) return whole;
  if (whole.empty()) return parent_->begins_at_this() ? step_ : std::string();
  if (llvm::isDigit(step_.front())) return "std::get<" + step_ + ">(" + whole + ")";
  return whole + "." + step_;
}

const Path* Paths::root_of(Path::Kind kind, const void* key) {
  std::unique_ptr<Path>& root = roots_[{kind, key}];
  if (root == nullptr) root.reset(new Path(*this, kind, key, nullptr, {}));
  return root.get();
}

const Path* Paths::of(const clang::ValueDecl* variable) {
  variable = llvm::cast<clang::ValueDecl>(variable->getCanonicalDecl());
  return root_of(Path::Kind::kVariable, variable);
}

const Path* Paths::of(const clang::Expr* expression) {
  return root_of(Path::Kind::kExpression, expression);
}

const Path* Paths::this_object() {
  return root_of(Path::Kind::kThis, nullptr);
}

const Path* Paths::result() {
  return root_of(Path::Kind::kResult, nullptr);
}

}  // namespace devsan::lint
