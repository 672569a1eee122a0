// The standard library's and LibTorch's types that hold other values, by name.
#include "value_types.h"

#include "clang/AST/DeclTemplate.h"
#include "clang_compat.h"
#include "module_types.h"
#include "torch_types.h"

namespace devsan::lint {

bool names_device(clang::QualType type) {
  return is_device(type) || is_device_type(type) || is_optional_device(type) ||
         is_tensor_options(type);
}

bool is_followed(clang::QualType type) {
  if (type.isNull()) return false;
  type = type.getNonReferenceType();
  if (type->isPointerType()) type = type->getPointeeType();
  if (const clang::ArrayType* array = type->getAsArrayTypeUnsafe()) type = array->getElementType();
  return record_of(type) != nullptr || is_device_type(type);
}

llvm::StringRef member_step(const clang::ValueDecl& member) {
  const llvm::StringRef name = plain_name(&member);
  const auto* owner = llvm::dyn_cast<clang::NamedDecl>(member.getDeclContext());
  if (!is_of_std(member) || plain_name(owner) != "pair") return name;
  return name == "first" ? "0" : "1";
}

bool is_tuple(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  const llvm::StringRef name = plain_name(record);
  return record != nullptr && is_of_std(*record) && (name == "tuple" || name == "pair");
}

bool is_wrapper(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  return record != nullptr && is_wrapper(*record);
}

bool is_wrapper(const clang::CXXRecordDecl& record) {
  const llvm::StringRef name = plain_name(&record);
  if (is_of_std(record)) {
    return StringSwitch<bool>(name)
        .Cases({"optional", "shared_ptr", "unique_ptr", "reference_wrapper", "weak_ptr"}, true)
        .Default(false);
  }
  if (!is_of_libtorch(record)) return false;
  return StringSwitch<bool>(name)
      .Cases({"IValue", "intrusive_ptr", "ModuleHolder", "OptionalRef", "MaybeOwned"}, true)
      .Default(false);
}

bool may_be_aliased(clang::QualType type) {
  if (type.isNull() || module_of(type) != nullptr) return false;
  type = type.getNonReferenceType();
  const llvm::StringRef name = plain_name(record_of(type));
  return type->isPointerType() || name == "shared_ptr" || name == "weak_ptr" ||
         name == "reference_wrapper";
}

bool is_shared(clang::QualType type) {
  const bool refers = type->isLValueReferenceType() || type->isPointerType();
  if (refers && !type->getPointeeType().isConstQualified()) return true;
  // A module is moved through a copy of its holder as well.
  return module_of(type) != nullptr || is_named(record_of(type), "jit", "Module") ||
         may_be_aliased(type) || plain_name(record_of(type)) == "unique_ptr";
}

Access access_of(const clang::CXXMemberCallExpr& call) {
  const clang::Expr* object = call.getImplicitObjectArgument();
  if (object == nullptr || call.getMethodDecl() == nullptr) return Access::kNone;
  clang::QualType type = object->IgnoreParenImpCasts()->getType();
  if (type->isPointerType()) type = type->getPointeeType();
  const llvm::StringRef method = plain_name(call.getMethodDecl());
  const clang::CXXRecordDecl* owner = call.getMethodDecl()->getParent();
  if (is_wrapper(type) || is_wrapper(*owner) || module_of(type) != nullptr) {
    return StringSwitch<Access>(method)
        .Cases({"value", "get", "ptr", "lock", "toTensor", "toTuple", "toTupleRef"}, Access::kWhole)
        .Cases({"toTensorList", "toTensorVector", "toList", "toListRef", "toGenericDict"},
               Access::kWhole)
        .Default(Access::kNone);
  }
  if (element_of(type).isNull()) return Access::kNone;
  return StringSwitch<Access>(method)
      .Cases({"at", "front", "back", "begin", "end", "cbegin", "cend"}, Access::kElement)
      .Cases({"find", "data", "rbegin", "rend"}, Access::kElement)
      .Default(Access::kNone);
}

std::optional<std::string> got_element(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr || !is_of_std(*callee) || plain_name(callee) != "get" ||
      call.getNumArgs() != 1 || !is_tuple(call.getArg(0)->getType())) {
    return std::nullopt;
  }
  const clang::TemplateArgumentList* arguments = callee->getTemplateSpecializationArgs();
  if (arguments == nullptr || arguments->size() == 0 ||
      (*arguments)[0].getKind() != clang::TemplateArgument::Integral) {
    return std::nullopt;
  }
  return std::to_string((*arguments)[0].getAsIntegral().getExtValue());
}

bool passes_on(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr || !is_of_std(*callee) || call.getNumArgs() != 1) return false;
  return StringSwitch<bool>(plain_name(callee))
      .Cases({"move", "forward", "as_const", "ref", "cref", "addressof"}, true)
      .Cases({"begin", "end", "cbegin", "cend"}, true)
      .Cases({"dynamic_pointer_cast", "static_pointer_cast"}, true)
      .Default(false);
}

}  // namespace devsan::lint
