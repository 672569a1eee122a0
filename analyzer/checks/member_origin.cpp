// Reads the expression that makes the value, and functions of the project that it calls.
#include "member_origin.h"

#include "../placement/expressions.h"
#include "../placement/member_facts.h"
#include "../placement/module_types.h"
#include "../placement/torch_types.h"

namespace devsan::lint {
namespace {

bool mentions_device(const clang::Stmt* statement) {
  if (statement == nullptr) return false;
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement);
      expression != nullptr && !llvm::isa<clang::CXXDefaultArgExpr>(expression)) {
    const clang::QualType type = expression->getType();
    if (is_device(type) || is_device_type(type) || is_optional_device(type)) return true;
    // Options that somebody else made may have a device in them.
    if (is_tensor_options(type) && llvm::isa<clang::DeclRefExpr, clang::MemberExpr>(expression)) {
      return true;
    }
  }
  for (const clang::Stmt* child : statement->children()) {
    if (mentions_device(child)) return true;
  }
  return false;
}

// A member of the same module, a tensor or a module that is a parameter: what is made from it is
// where that is. `self` is the member that the value is for.
bool mentions_placed(const clang::Stmt* statement, const clang::FieldDecl* self) {
  if (statement == nullptr) return false;
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) {
    const bool state = is_tensor(expression->getType()) ||
                       module_of(expression->getType()) != nullptr ||
                       !element_of(expression->getType()).isNull();
    const clang::ValueDecl* value = state ? named_value(expression) : nullptr;
    if (value != nullptr && value != self &&
        llvm::isa<clang::FieldDecl, clang::ParmVarDecl>(value)) {
      return true;
    }
  }
  for (const clang::Stmt* child : statement->children()) {
    if (mentions_placed(child, self)) return true;
  }
  return false;
}

// `torch::tensor(0.5)`, `torch::scalar_tensor(1)`, `torch::full({}, x)`.
bool makes_scalar(const clang::Expr* made) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(chain_root(made));
  if (call == nullptr || call->getNumArgs() == 0) return false;
  const llvm::StringRef callee = callee_name(*call);
  const clang::Expr* first = call->getArg(0)->IgnoreUnlessSpelledInSource();
  if (callee == "scalar_tensor") return true;
  if (callee == "tensor") {
    return first->getType()->isArithmeticType() || first->getType()->isEnumeralType();
  }
  return is_empty_list(call->getArg(0));
}

// A variable that outlives the call: a cache, a table of the program.
bool mentions_global_tensor(const clang::Stmt* statement) {
  if (statement == nullptr) return false;
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(statement)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (variable != nullptr && variable->hasGlobalStorage() && is_tensor(variable->getType())) {
      return true;
    }
  }
  return llvm::any_of(statement->children(), mentions_global_tensor);
}

// `make_anchors(height, width)`: a function of the project that is given nothing with a device and
// names none makes its tensor on the default device.
bool makes_on_default_device(const clang::Expr* made) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(made);
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  const clang::FunctionDecl* definition = nullptr;
  if (callee == nullptr || is_of_libtorch(*callee) || !callee->hasBody(definition)) return false;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  if (method != nullptr && method->isInstance()) return false;
  const bool plain = llvm::all_of(callee->parameters(), [](const clang::ParmVarDecl* parameter) {
    const clang::QualType type = parameter->getType().getNonReferenceType();
    return type->isArithmeticType() || type->isEnumeralType();
  });
  return plain && !mentions_device(definition->getBody()) &&
         !mentions_global_tensor(definition->getBody());
}

}  // namespace

const clang::FunctionDecl* libtorch_callee(const clang::Expr* expression) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expression);
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  return callee != nullptr && is_of_libtorch(*callee) ? callee : nullptr;
}

MemberOrigin origin_of_tensor(const clang::Expr* made, const clang::FieldDecl* self) {
  made = written(made);
  if (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(made)) {
    if (construct->getNumArgs() != 1) return MemberOrigin::kNothing;
    return origin_of_tensor(construct->getArg(0), self);
  }
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(made)) {
    return list->getNumInits() == 1 ? origin_of_tensor(list->getInit(0), self)
                                    : MemberOrigin::kNothing;
  }
  if (mentions_device(made)) return MemberOrigin::kPlaced;
  const clang::ValueDecl* value = named_value(made);
  if (const auto* local = llvm::dyn_cast_or_null<clang::VarDecl>(value)) {
    if (llvm::isa<clang::ParmVarDecl>(local) || !local->hasInit()) return MemberOrigin::kOutside;
    return origin_of_tensor(local->getInit(), self);
  }
  if (mentions_placed(made, self)) return MemberOrigin::kOutside;
  const clang::Expr* root = chain_root(made);
  if (named_value(root) == self) return MemberOrigin::kNothing;  // `pe = pe.unsqueeze(0)`
  if (makes_on_default_device(root)) return MemberOrigin::kDefault;
  if (libtorch_callee(root) == nullptr && libtorch_callee(made) == nullptr)
    return MemberOrigin::kOutside;
  return makes_scalar(made) ? MemberOrigin::kScalar : MemberOrigin::kDefault;
}

MemberOrigin origin_of_module(const clang::Expr* made) {
  made = written(made);
  if (mentions_device(made)) return MemberOrigin::kPlaced;
  if (mentions_placed(made, nullptr)) return MemberOrigin::kOutside;
  if (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(made)) {
    const bool null = construct->getNumArgs() == 1 &&
                      llvm::isa<clang::CXXNullPtrLiteralExpr>(written(construct->getArg(0)));
    if (null || llvm::isa<clang::CXXNullPtrLiteralExpr>(made)) return MemberOrigin::kNothing;
    return MemberOrigin::kDefault;
  }
  if (llvm::isa<clang::CXXNullPtrLiteralExpr>(made)) return MemberOrigin::kNothing;
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(made)) {
    if (list->getNumInits() == 0) return MemberOrigin::kNothing;
    return origin_of_module(list->getInit(0));
  }
  return llvm::isa<clang::CallExpr>(made) ? MemberOrigin::kDefault : MemberOrigin::kOutside;
}

}  // namespace devsan::lint
