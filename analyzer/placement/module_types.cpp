// LibTorch's modules by name, the project's own by their members.
#include "module_types.h"

#include "clang/AST/DeclTemplate.h"
#include "clang_compat.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

const clang::ClassTemplateSpecializationDecl* std_template(const clang::CXXRecordDecl* record) {
  const auto* specialised = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  return specialised != nullptr && specialised->isInStdNamespace() ? specialised : nullptr;
}

clang::QualType type_argument(const clang::ClassTemplateSpecializationDecl& record,
                              unsigned index) {
  const clang::TemplateArgumentList& arguments = record.getTemplateArgs();
  if (arguments.size() <= index || arguments[index].getKind() != clang::TemplateArgument::Type) {
    return {};
  }
  return arguments[index].getAsType();
}

// `FooImpl` of a class that derives from ModuleHolder<FooImpl>.
const clang::CXXRecordDecl* held_module(const clang::CXXRecordDecl* record) {
  if (record == nullptr) return nullptr;
  if (const auto* holder = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
      holder != nullptr && is_named(holder, "nn", "ModuleHolder")) {
    return record_of(type_argument(*holder, 0));
  }
  if (!record->hasDefinition()) return nullptr;
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    if (const auto* held = held_module(record_of(base.getType()))) return held;
  }
  return nullptr;
}

// Modules of torch::nn that neither learn nor remember. The names are those of their Impl classes.
bool is_stateless_name(llvm::StringRef name) {
  name.consume_back("Impl");
  if (name.contains("Dropout") || name.contains("Pool") || name.contains("Pad")) return true;
  if (name.ends_with("Loss")) return true;
  return StringSwitch<bool>(name)
      .Cases({"ReLU", "ReLU6", "RReLU", "LeakyReLU", "ELU", "SELU", "CELU", "GELU", "GLU"}, true)
      .Cases({"SiLU", "Mish", "Sigmoid", "LogSigmoid", "Tanh", "Tanhshrink", "Hardtanh"}, true)
      .Cases({"Hardshrink", "Softshrink", "Softplus", "Softsign", "Threshold"}, true)
      .Cases({"Softmax", "Softmin", "LogSoftmax", "Softmax2d"}, true)
      .Cases({"Flatten", "Unflatten", "Identity", "Upsample", "PixelShuffle"}, true)
      .Cases({"PixelUnshuffle", "Fold", "Unfold", "CosineSimilarity"}, true)
      .Cases({"PairwiseDistance", "LocalResponseNorm", "CrossMapLRN2d", "Functional"}, true)
      .Default(false);
}

}  // namespace

const clang::CXXRecordDecl* module_of(clang::QualType type) {
  if (type.isNull()) return nullptr;
  type = type.getNonReferenceType().getCanonicalType();
  if (type->isPointerType()) return module_of(type->getPointeeType());
  const clang::CXXRecordDecl* record = record_of(type);
  if (const auto* pointer = std_template(record)) {
    const llvm::StringRef name = plain_name(pointer);
    const bool points = name == "shared_ptr" || name == "unique_ptr" || name == "optional";
    return points ? module_of(type_argument(*pointer, 0)) : nullptr;
  }
  if (const auto* held = held_module(record)) return held;
  return derives_from(record, "nn", "Module") ? record : nullptr;
}

clang::QualType element_of(clang::QualType type) {
  const clang::ClassTemplateSpecializationDecl* container = std_template(record_of(type));
  if (container == nullptr) return {};
  const unsigned argument = StringSwitch<unsigned>(plain_name(container))
                                .Cases({"vector", "array", "deque", "list"}, 1)
                                .Cases({"map", "unordered_map"}, 2)
                                .Default(0);
  return argument == 0 ? clang::QualType() : type_argument(*container, argument - 1);
}

bool may_have_state(const clang::CXXRecordDecl& module) {
  if (is_of_libtorch(module)) return !is_stateless_name(plain_name(&module));
  const clang::CXXRecordDecl* definition = module.getDefinition();
  if (definition == nullptr || definition->isDependentContext()) return true;
  for (const clang::FieldDecl* field : definition->fields()) {
    clang::QualType type = field->getType();
    if (const clang::QualType element = element_of(type); !element.isNull()) type = element;
    if (is_tensor(type)) return true;
    const clang::CXXRecordDecl* inner = module_of(type);
    if (inner != nullptr && inner->getCanonicalDecl() != definition->getCanonicalDecl() &&
        may_have_state(*inner)) {
      return true;
    }
  }
  for (const clang::CXXBaseSpecifier& base : definition->bases()) {
    const clang::CXXRecordDecl* record = record_of(base.getType());
    if (record != nullptr && !is_of_libtorch(*record) && may_have_state(*record)) return true;
  }
  return false;
}

const clang::Expr* moved_to(const clang::CXXMemberCallExpr& call) {
  const clang::CXXMethodDecl* method = call.getMethodDecl();
  if (method == nullptr || plain_name(method) != "to") return nullptr;
  const clang::CXXRecordDecl* owner = method->getParent();
  if (!derives_from(owner, "nn", "Module") && !is_named(owner, "jit", "Module")) return nullptr;
  for (unsigned i = 0; i < call.getNumArgs(); ++i) {
    if (is_device(method->getParamDecl(i)->getType())) return call.getArg(i);
  }
  return nullptr;
}

bool is_module_container(const clang::CXXRecordDecl& module) {
  return StringSwitch<bool>(plain_name(&module))
      .Cases({"SequentialImpl", "ModuleListImpl", "ModuleDictImpl"}, is_of_libtorch(module))
      .Default(false);
}

}  // namespace devsan::lint
