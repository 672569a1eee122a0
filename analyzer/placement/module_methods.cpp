// Calls through `this` are the edges; two walks over them tell set-up from use, one finds inputs.
#include "module_methods.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "expressions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

// Something in it was lost to an error.
class Broken : public clang::RecursiveASTVisitor<Broken> {
 public:
  bool found = false;
  bool VisitExpr(clang::Expr* expression) {
    found |= expression->containsErrors();
    return !found;
  }
  bool VisitDecl(clang::Decl* declaration) {
    found |= declaration->isInvalidDecl();
    return !found;
  }
};

// Which methods of the same object each method calls.
class OwnCalls : public clang::RecursiveASTVisitor<OwnCalls> {
 public:
  llvm::SmallVector<const clang::CXXMethodDecl*, 4> calls;
  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    const clang::Expr* object = call->getImplicitObjectArgument();
    if (object != nullptr && llvm::isa<clang::CXXThisExpr>(written(object)) &&
        call->getMethodDecl() != nullptr) {
      calls.push_back(call->getMethodDecl()->getCanonicalDecl());
    }
    return true;
  }
};

using Calls = llvm::DenseMap<const clang::CXXMethodDecl*, OwnCalls>;
void reach(std::vector<const clang::CXXMethodDecl*> work, const Calls& calls,
           llvm::DenseSet<const clang::CXXMethodDecl*>& reached) {
  while (!work.empty()) {
    const clang::CXXMethodDecl* method = work.back();
    work.pop_back();
    if (!reached.insert(method).second) continue;
    const auto of_method = calls.find(method);
    if (of_method == calls.end()) continue;
    for (const clang::CXXMethodDecl* callee : of_method->second.calls) work.push_back(callee);
  }
}

}  // namespace

const clang::FunctionDecl* definition_of(const clang::CXXMethodDecl& method) {
  const clang::FunctionDecl* definition = nullptr;
  return method.hasBody(definition) ? definition : nullptr;
}

bool needs_body(const clang::CXXMethodDecl& method) {
  return !method.isImplicit() && !method.isDefaulted() && !method.isDeleted();
}

std::vector<const clang::CXXMethodDecl*> methods_of(const clang::CXXRecordDecl& module) {
  std::vector<const clang::CXXMethodDecl*> methods(module.method_begin(), module.method_end());
  for (const clang::Decl* declaration : module.decls()) {
    const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration);
    if (pattern == nullptr) continue;
    if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(pattern->getTemplatedDecl())) {
      methods.push_back(method);
    }
  }
  return methods;
}

SetUpMethods::SetUpMethods(const std::vector<const clang::CXXMethodDecl*>& methods,
                           bool cloneable) {
  llvm::DenseMap<const clang::CXXMethodDecl*, OwnCalls> calls;
  std::vector<const clang::CXXMethodDecl*> from_set_up;
  std::vector<const clang::CXXMethodDecl*> from_elsewhere;
  for (const clang::CXXMethodDecl* method : methods) {
    const clang::FunctionDecl* definition = definition_of(*method);
    if (definition == nullptr) continue;
    method = method->getCanonicalDecl();
    OwnCalls& of_method = calls[method];
    of_method.TraverseDecl(const_cast<clang::FunctionDecl*>(definition));
    const bool resets = cloneable && plain_name(method) == "reset";
    if (llvm::isa<clang::CXXConstructorDecl>(method) || resets) from_set_up.push_back(method);
  }
  reach(from_set_up, calls, members_);
  for (const auto& entry : calls) {
    if (!members_.contains(entry.first)) from_elsewhere.push_back(entry.first);
  }
  llvm::DenseSet<const clang::CXXMethodDecl*> elsewhere;
  reach(from_elsewhere, calls, elsewhere);
  for (const clang::CXXMethodDecl* method : elsewhere) members_.erase(method);
}

bool gets_inputs(const clang::CXXMethodDecl& method) {
  using Method = const clang::CXXMethodDecl*;
  llvm::DenseMap<Method, llvm::SmallVector<Method, 2>> callers;
  for (Method caller : methods_of(*method.getParent())) {
    const clang::FunctionDecl* definition = definition_of(*caller);
    if (definition == nullptr) continue;
    OwnCalls own;
    own.TraverseDecl(const_cast<clang::FunctionDecl*>(definition));
    for (Method callee : own.calls) callers[callee].push_back(caller->getCanonicalDecl());
  }
  const auto sets_up = [](Method one) {
    return llvm::isa<clang::CXXConstructorDecl>(one) || plain_name(one) == "reset";
  };
  Method start = method.getCanonicalDecl();
  if (sets_up(start)) return false;
  if (callers[start].empty()) return true;
  llvm::DenseSet<Method> seen;
  llvm::SmallVector<Method, 8> work{start};
  while (!work.empty()) {
    Method one = work.pop_back_val();
    if (!seen.insert(one).second || sets_up(one)) continue;
    const bool from_outside = callers[one].empty();
    if (plain_name(one).starts_with("forward") || (from_outside && takes_tensor(*one))) return true;
    work.append(callers[one].begin(), callers[one].end());
  }
  return false;
}

bool is_wholly_parsed(const clang::FunctionDecl& definition) {
  Broken broken;
  broken.TraverseDecl(const_cast<clang::FunctionDecl*>(&definition));
  return !broken.found;
}

}  // namespace devsan::lint
