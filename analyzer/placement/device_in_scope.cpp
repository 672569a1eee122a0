// Candidates in order: Device parameters, Device members, TensorOptions, the only tensor.
#include "device_in_scope.h"

#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

// The only one of `names`, or nothing. Candidates of one kind that compete are not chosen between.
using Names = llvm::SmallVector<std::string, 2>;

Names parameters_of(const clang::FunctionDecl& function,
                    llvm::function_ref<bool(clang::QualType)> wanted, const char* suffix,
                    const clang::ValueDecl* excluded) {
  Names names;
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    if (parameter == excluded || parameter->getIdentifier() == nullptr) continue;
    if (wanted(parameter->getType())) names.push_back(parameter->getName().str() + suffix);
  }
  return names;
}

// Members of type Device that a method may read. A constructor may run before they are set.
Names device_members(const clang::FunctionDecl& function) {
  Names names;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  if (method == nullptr || method->isStatic() || llvm::isa<clang::CXXConstructorDecl>(method)) {
    return names;
  }
  for (const clang::FieldDecl* field : method->getParent()->fields()) {
    if (is_device(field->getType()) && field->getIdentifier() != nullptr) {
      names.push_back(field->getName().str());
    }
  }
  return names;
}

}  // namespace

std::optional<std::string> device_in_scope(const clang::FunctionDecl* function,
                                           const clang::LambdaExpr* lambda,
                                           const clang::ValueDecl* moved) {
  if (lambda != nullptr) function = lambda->getCallOperator();
  if (function == nullptr) return std::nullopt;
  // From the most to the least explicit; a kind with any candidate ends the search.
  const auto devices = parameters_of(*function, is_device, "", nullptr);
  if (!devices.empty()) return devices.size() == 1 ? std::optional(devices[0]) : std::nullopt;
  if (lambda == nullptr) {
    const auto members = device_members(*function);
    if (!members.empty()) return members.size() == 1 ? std::optional(members[0]) : std::nullopt;
  }
  const auto options = parameters_of(*function, is_tensor_options, ".device()", nullptr);
  if (!options.empty()) return options.size() == 1 ? std::optional(options[0]) : std::nullopt;
  const auto tensors = parameters_of(*function, is_tensor, ".device()", nullptr);
  if (tensors.size() != 1) return std::nullopt;
  const auto others = parameters_of(*function, is_tensor, ".device()", moved);
  return others.size() == 1 ? std::optional(others[0]) : std::nullopt;
}

bool has_device_in_scope(const clang::FunctionDecl* function, const clang::LambdaExpr* lambda,
                         const clang::ValueDecl* moved) {
  const auto among_parameters = [&](const clang::FunctionDecl& of) {
    const auto has_device = [](clang::QualType type) {
      return is_device(type) || is_tensor_options(type) || is_tensor(type);
    };
    return !parameters_of(of, has_device, "", moved).empty();
  };
  if (lambda != nullptr && among_parameters(*lambda->getCallOperator())) return true;
  return function != nullptr && (among_parameters(*function) || !device_members(*function).empty());
}

}  // namespace devsan::lint
