// Types by name and namespace, without building qualified strings.
#include "torch_types.h"

#include "clang/AST/DeclTemplate.h"
#include "clang_compat.h"

namespace devsan::lint {

llvm::StringRef plain_name(const clang::NamedDecl* declaration) {
  if (declaration == nullptr || declaration->getIdentifier() == nullptr) return {};
  return declaration->getName();
}

bool is_named(const clang::NamedDecl* declaration, llvm::StringRef space, llvm::StringRef name) {
  if (plain_name(declaration) != name) return false;
  const clang::DeclContext* context = declaration->getDeclContext();
  while (context != nullptr && (context->isInlineNamespace() || context->isTransparentContext())) {
    context = context->getParent();
  }
  return plain_name(llvm::dyn_cast_or_null<clang::NamespaceDecl>(context)) == space;
}

const clang::CXXRecordDecl* record_of(clang::QualType type) {
  if (type.isNull()) return nullptr;
  return type.getNonReferenceType().getCanonicalType()->getAsCXXRecordDecl();
}

bool is_tensor(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  return is_named(record, "at", "Tensor") || is_named(record, "at", "TensorBase");
}

bool is_device(clang::QualType type) {
  return is_named(record_of(type), "c10", "Device");
}

bool is_optional_device(clang::QualType type) {
  const auto* optional =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record_of(type));
  if (optional == nullptr || !is_named(optional, "std", "optional")) return false;
  const clang::TemplateArgumentList& arguments = optional->getTemplateArgs();
  return arguments.size() > 0 && arguments[0].getKind() == clang::TemplateArgument::Type &&
         is_device(arguments[0].getAsType());
}

bool is_tensor_options(clang::QualType type) {
  return is_named(record_of(type), "c10", "TensorOptions");
}

bool is_device_type(clang::QualType type) {
  if (type.isNull()) return false;
  const auto* enumeration = type.getNonReferenceType().getCanonicalType()->getAs<clang::EnumType>();
  return enumeration != nullptr && is_named(enumeration->getDecl(), "c10", "DeviceType");
}

bool takes_tensor(const clang::FunctionDecl& function) {
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    if (is_tensor(parameter->getType())) return true;
  }
  return false;
}

bool is_device_guard(clang::QualType type) {
  return StringSwitch<bool>(plain_name(record_of(type)))
      .Cases({"CUDAGuard", "OptionalCUDAGuard", "CUDAStreamGuard", "OptionalCUDAStreamGuard"}, true)
      .Cases({"CUDAMultiStreamGuard", "DeviceGuard", "OptionalDeviceGuard"}, true)
      .Cases({"StreamGuard", "OptionalStreamGuard", "HIPGuard", "OptionalHIPGuard"}, true)
      .Default(false);
}

static llvm::StringRef outermost_namespace(const clang::Decl& declaration) {
  const clang::DeclContext* outermost = nullptr;
  for (const clang::DeclContext* context = declaration.getDeclContext();
       context != nullptr && !context->isTranslationUnit(); context = context->getParent()) {
    outermost = context;
  }
  return plain_name(llvm::dyn_cast_or_null<clang::NamespaceDecl>(outermost));
}

bool is_of_libtorch(const clang::Decl& declaration) {
  const llvm::StringRef name = outermost_namespace(declaration);
  return name == "torch" || name == "at" || name == "c10";
}

bool is_of_std(const clang::Decl& declaration) {
  return outermost_namespace(declaration) == "std";
}

bool derives_from(const clang::CXXRecordDecl* record, llvm::StringRef space, llvm::StringRef name) {
  if (record == nullptr) return false;
  if (is_named(record, space, name)) return true;
  if (!record->hasDefinition()) return false;
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    const clang::CXXRecordDecl* base_record = record_of(base.getType());
    if (base_record == nullptr) {
      // A base that depends on a template parameter, `Function<T>` or `Cloneable<T>`: ask its
      // template.
      const auto* dependent = base.getType()->getAs<clang::TemplateSpecializationType>();
      if (dependent == nullptr) continue;
      const clang::TemplateDecl* pattern = dependent->getTemplateName().getAsTemplateDecl();
      if (pattern == nullptr) continue;
      base_record = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(pattern->getTemplatedDecl());
    }
    if (derives_from(base_record, space, name)) return true;
  }
  return false;
}

bool is_module_class(const clang::CXXRecordDecl* record) {
  return derives_from(record, "nn", "Module") || derives_from(record, "autograd", "Function");
}

}  // namespace devsan::lint
