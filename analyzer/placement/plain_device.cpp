// Chains of calls, read from their end: the last one that says a device decides.
#include "plain_device.h"

#include "clang_compat.h"
#include "expressions.h"
#include "torch_ops.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

// An argument that names a device; kUnknown when one is given that cannot be read, kCpu when none
// is and `by_default` says so.
PlainDevice device_among(const clang::CallExpr& call, PlainDevice by_default,
                         const clang::FunctionDecl* function) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  for (unsigned i = 0; i < call.getNumArgs() && i < callee->getNumParams(); ++i) {
    const clang::QualType type = callee->getParamDecl(i)->getType();
    const bool names =
        is_device(type) || is_optional_device(type) || is_tensor_options(type) || is_tensor(type);
    if (!names || llvm::isa<clang::CXXDefaultArgExpr>(call.getArg(i))) continue;
    const auto* options = llvm::dyn_cast<clang::CXXConstructExpr>(written(call.getArg(i)));
    const bool dtype_alone =
        is_tensor_options(type) && options != nullptr && options->getNumArgs() > 0 &&
        plain_name(written(options->getArg(0))->getType()->getAsTagDecl()) == "ScalarType";
    return dtype_alone ? by_default : named_device(call.getArg(i), function);
  }
  return by_default;
}

bool moves_any(const clang::Stmt* statement) {
  if (statement == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
    const llvm::StringRef name = plain_name(call->getDirectCallee());
    const bool unseen = call->getDirectCallee() == nullptr;
    if (unseen || name == "to" || name == "cuda" || name == "cpu" || name == "copy_") return true;
  }
  return llvm::any_of(statement->children(), moves_any);
}

bool mentions(const clang::Stmt* statement, const clang::ValueDecl* variable) {
  if (statement == nullptr) return false;
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(statement);
  if (reference != nullptr && reference->getDecl() == variable) return true;
  return llvm::any_of(statement->children(),
                      [variable](const clang::Stmt* child) { return mentions(child, variable); });
}

// Gives a tensor where the object is, in a chain of methods.
bool keeps_device(llvm::StringRef method) {
  return keeps_rank(method) || reduces_to_scalar(method) ||
         StringSwitch<bool>(method)
             .Cases({"select", "narrow", "slice", "index", "squeeze", "index_select"}, true)
             .Default(false);
}

}  // namespace

PlainDevice named_device(const clang::Expr* expression, const clang::FunctionDecl* function) {
  const clang::Expr* bare = written(expression);
  if (const auto* text = llvm::dyn_cast<clang::StringLiteral>(bare); text != nullptr) {
    const llvm::StringRef name = text->isOrdinary() ? text->getString() : "";
    if (name == "cpu") return PlainDevice::kCpu;
    return name.starts_with("cuda") ? PlainDevice::kCuda : PlainDevice::kUnknown;
  }
  if (is_device_type(bare->getType())) {
    return StringSwitch<PlainDevice>(plain_name(named_value(bare)))
        .Cases({"kCUDA", "CUDA"}, PlainDevice::kCuda)
        .Cases({"kCPU", "CPU"}, PlainDevice::kCpu)
        .Default(PlainDevice::kUnknown);
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare)) {
    return made->getNumArgs() == 0 ? PlainDevice::kUnknown
                                   : named_device(made->getArg(0), function);
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(bare)) {
    // `torch::device(torch::kCUDA)`, `options.device(torch::kCUDA)`
    const bool says = plain_name(call->getDirectCallee()) == "device" && call->getNumArgs() > 0;
    if (says) return named_device(call->getArg(0), function);
    const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(bare);
    const bool chained = method != nullptr && method->getImplicitObjectArgument() != nullptr &&
                         is_tensor_options(method->getType());
    return chained ? named_device(method->getImplicitObjectArgument(), function)
                   : PlainDevice::kUnknown;
  }
  const clang::ValueDecl* variable = named_value(bare);
  const clang::Expr* value = only_value(variable, function);
  const auto* constant = llvm::dyn_cast_or_null<clang::VarDecl>(variable);
  if (value == nullptr && constant != nullptr && constant->getType().isConstQualified()) {
    value = constant->getInit();
  }
  return value == nullptr ? PlainDevice::kUnknown : named_device(value, function);
}

bool takes_as_it_is(const clang::FunctionDecl* callee) {
  if (callee == nullptr) return false;
  if (is_of_libtorch(*callee)) return true;
  const clang::FunctionDecl* definition = nullptr;
  return callee->hasBody(definition) && !moves_any(definition->getBody());
}

bool is_plain_scalar(const clang::Expr* tensor, const clang::FunctionDecl* function) {
  const clang::Expr* bare = written(tensor);
  if (const clang::Expr* value = only_value(named_value(bare), function)) {
    return is_plain_scalar(value, function);
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(bare);
  const llvm::StringRef name =
      call == nullptr ? llvm::StringRef() : plain_name(call->getDirectCallee());
  if (llvm::isa_and_nonnull<clang::CXXMemberCallExpr>(call)) {
    return reduces_to_scalar(name) && written_arguments(*call) == 0;
  }
  if (name == "scalar_tensor") return true;
  if (call == nullptr || call->getNumArgs() == 0) return false;
  const clang::Expr* first = written(call->getArg(0));
  if (name != "tensor") return name != "arange" && is_empty_list(first);
  // A number is wrapped once.
  if (const auto* wrapped = llvm::dyn_cast<clang::CXXConstructExpr>(first);
      wrapped != nullptr && wrapped->getNumArgs() == 1) {
    first = written(wrapped->getArg(0));
  }
  return first->getType()->isArithmeticType();
}

bool may_change(const clang::Stmt* body, const clang::ValueDecl* variable) {
  if (body == nullptr) return false;
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(body);
      unary != nullptr && unary->getOpcode() == clang::UO_AddrOf &&
      named_value(unary->getSubExpr()) == variable) {
    return true;
  }
  if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(body)) {
    if (operation->isAssignmentOp() && named_value(operation->getArg(0)) == variable) return true;
  } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(body)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      if (named_value(call->getArg(i)) != variable) continue;
      if (callee == nullptr || i >= callee->getNumParams()) return true;
      const clang::QualType type = callee->getParamDecl(i)->getType();
      const bool by_reference =
          type->isLValueReferenceType() && !type.getNonReferenceType().isConstQualified();
      if (by_reference) return true;
    }
    const llvm::StringRef name = plain_name(callee);
    const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(body);
    const bool replaces = name == "set_data" || name == "swap" || name == "reset";
    if (replaces && method != nullptr && method->getImplicitObjectArgument() != nullptr &&
        named_value(method->getImplicitObjectArgument()) == variable) {
      return true;
    }
  }
  if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(body)) {
    return may_change(lambda->getBody(), variable);
  }
  return llvm::any_of(body->children(),
                      [variable](const clang::Stmt* child) { return may_change(child, variable); });
}

const clang::Expr* only_value(const clang::ValueDecl* variable,
                              const clang::FunctionDecl* function) {
  const auto* local = llvm::dyn_cast_or_null<clang::VarDecl>(variable);
  if (local == nullptr || function == nullptr || !local->isLocalVarDecl() ||
      local->isStaticLocal() || local->getInit() == nullptr || !function->hasBody() ||
      may_change(function->getBody(), local) || mentions(local->getInit(), local)) {
    return nullptr;
  }
  return local->getInit();
}

PlainDevice plain_device(const clang::Expr* tensor, const clang::FunctionDecl* function) {
  const clang::Expr* bare = written(tensor);
  while (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare)) {
    if (written_arguments(*made) != 1) return PlainDevice::kUnknown;
    bare = written(made->getArg(0));
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(bare)) {
    const llvm::StringRef method = plain_name(call->getMethodDecl());
    const clang::Expr* object = call->getImplicitObjectArgument();
    if (object == nullptr || !is_tensor(object->getType()) || call->getMethodDecl() == nullptr) {
      return PlainDevice::kUnknown;
    }
    if (method == "cpu") return PlainDevice::kCpu;
    if (method == "cuda") return PlainDevice::kCuda;
    if (method == "to") return device_among(*call, plain_device(object, function), function);
    return keeps_device(method) ? plain_device(object, function) : PlainDevice::kUnknown;
  }
  if (const auto* element = llvm::dyn_cast<clang::CXXOperatorCallExpr>(bare);
      element != nullptr && element->getOperator() == clang::OO_Subscript &&
      is_tensor(element->getArg(0)->getType())) {
    return plain_device(element->getArg(0), function);
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(bare);
      call != nullptr && call->getDirectCallee() != nullptr) {
    const bool factory = is_factory(*call->getDirectCallee());
    return factory ? device_among(*call, PlainDevice::kCpu, function) : PlainDevice::kUnknown;
  }
  const clang::Expr* value = only_value(named_value(bare), function);
  return value == nullptr || !is_tensor(bare->getType()) ? PlainDevice::kUnknown
                                                         : plain_device(value, function);
}

}  // namespace devsan::lint
