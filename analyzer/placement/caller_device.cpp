// Reads a value from the outside in: a move decides, else the factory below it.
#include "caller_device.h"

#include "clang/AST/ExprCXX.h"
#include "expressions.h"
#include "plain_device.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

constexpr int kDeepest = 32;  // values of variables looked up behind each other

bool names_place(clang::QualType type) {
  return is_device(type) || is_tensor_options(type) || is_optional_device(type);
}

class Reader {
 public:
  explicit Reader(const clang::FunctionDecl& function) : function_(function) {}

  const clang::ParmVarDecl* of_value(const clang::Expr* value, int depth) const {
    value = written(value);
    if (depth > kDeepest) return nullptr;
    if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(value)) {
      return of_method(*method, depth + 1);
    }
    if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(value)) {
      return among_tensors(*call, depth + 1);
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(value)) return of_call(*call, depth + 1);
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(value)) {
      return made->getNumArgs() == 1 && is_tensor(made->getArg(0)->getType())
                 ? of_value(made->getArg(0), depth + 1)
                 : nullptr;
    }
    return is_tensor(value->getType()) ? behind(value, depth, &Reader::of_value) : nullptr;
  }

 private:
  using Read = const clang::ParmVarDecl* (Reader::*)(const clang::Expr*, int) const;

  const clang::ParmVarDecl* parameter(const clang::Expr* expression) const {
    const auto* named = llvm::dyn_cast_or_null<clang::ParmVarDecl>(named_value(expression));
    if (named == nullptr || !llvm::is_contained(function_.parameters(), named)) return nullptr;
    return may_change(function_.getBody(), named) ? nullptr : named;
  }

  const clang::ParmVarDecl* behind(const clang::Expr* variable, int depth, Read read) const {
    const clang::ValueDecl* named = named_value(variable);
    const clang::Expr* value = named != nullptr ? only_value(named, &function_) : nullptr;
    return value != nullptr ? (this->*read)(value, depth + 1) : nullptr;
  }

  // Of a device, options, or what a constructor takes for one.
  const clang::ParmVarDecl* of_place(const clang::Expr* place, int depth) const {
    place = written(place);
    if (depth > kDeepest) return nullptr;
    if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(place)) {
      const clang::Expr* object = method->getImplicitObjectArgument();
      const llvm::StringRef name = plain_name(method->getMethodDecl());
      if (object == nullptr) return nullptr;
      if (is_tensor(object->getType())) {
        const bool asks = name == "device" || name == "options" || name == "get_device";
        return asks ? parameter(object) : nullptr;
      }
      if (written_arguments(*method) == 0 || name != "device") return of_place(object, depth + 1);
      return among_places(*method, depth + 1);
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(place)) {
      return plain_name(call->getDirectCallee()) == "device" ? among_places(*call, depth + 1)
                                                             : nullptr;
    }
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(place)) {
      return among_places(*made, depth + 1);
    }
    if (!names_place(place->getType())) return nullptr;
    const clang::ParmVarDecl* named = parameter(place);
    return named != nullptr ? named : behind(place, depth, &Reader::of_place);
  }

  template <typename Call>
  const clang::ParmVarDecl* among_places(const Call& call, int depth) const {
    for (unsigned i = 0; i < written_arguments(call); ++i) {
      if (const auto* found = of_place(call.getArg(i), depth)) return found;
    }
    return nullptr;
  }

  const clang::ParmVarDecl* among_tensors(const clang::CallExpr& call, int depth) const {
    for (unsigned i = 0; i < written_arguments(call); ++i) {
      if (!is_tensor(call.getArg(i)->getType())) continue;
      if (const auto* found = of_value(call.getArg(i), depth)) return found;
    }
    return nullptr;
  }

  // The argument that names a place outright. Null when there is none.
  static const clang::Expr* place_of(const clang::CallExpr& call) {
    for (unsigned i = 0; i < written_arguments(call); ++i) {
      if (names_place(call.getArg(i)->getType())) return call.getArg(i);
    }
    return nullptr;
  }

  const clang::ParmVarDecl* of_method(const clang::CXXMemberCallExpr& call, int depth) const {
    const clang::Expr* object = call.getImplicitObjectArgument();
    const llvm::StringRef name = plain_name(call.getMethodDecl());
    if (object == nullptr || !is_tensor(object->getType())) return nullptr;
    if (name == "cpu" || name == "cuda") return nullptr;
    if (const clang::Expr* place = place_of(call)) return of_place(place, depth);
    if (name.starts_with("new_")) return parameter(object);
    const bool like = name == "to" || name == "type_as";
    const bool as_tensor =
        like && written_arguments(call) > 0 && is_tensor(call.getArg(0)->getType());
    return as_tensor ? parameter(call.getArg(0)) : of_value(object, depth);
  }

  const clang::ParmVarDecl* of_call(const clang::CallExpr& call, int depth) const {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    if (callee == nullptr || !is_of_libtorch(*callee)) return nullptr;
    if (const clang::Expr* place = place_of(call)) return of_place(place, depth);
    const bool like = plain_name(callee).ends_with("_like") && call.getNumArgs() > 0;
    return like ? parameter(call.getArg(0)) : among_tensors(call, depth);
  }

  const clang::FunctionDecl& function_;
};

}  // namespace

const clang::ParmVarDecl* caller_device(const clang::Expr* value,
                                        const clang::FunctionDecl& function) {
  const Reader reader(function);
  return reader.of_value(value, 0);
}

}  // namespace devsan::lint
