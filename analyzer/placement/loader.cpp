// From a loader's type to its dataset.
#include "loader.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "torch_types.h"
#include "value_types.h"

namespace devsan::lint {
namespace {

// `D` of MapDataset<D, T>, BatchDataset<D, ...>, to the innermost.
const clang::CXXRecordDecl* dataset_of(const clang::CXXRecordDecl* record) {
  while (const auto* wrapper =
             llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record)) {
    const clang::TemplateArgumentList& arguments = wrapper->getTemplateArgs();
    if (arguments.size() == 0 || arguments[0].getKind() != clang::TemplateArgument::Type) break;
    const clang::CXXRecordDecl* inner = record_of(arguments[0].getAsType());
    if (inner == nullptr) break;
    record = inner;
  }
  return record;
}

class NamesDevice : public clang::RecursiveASTVisitor<NamesDevice> {
 public:
  bool found = false;
  bool VisitExpr(clang::Expr* expression) {
    found |= names_device(expression->getType());
    return !found;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    const llvm::StringRef name = plain_name(call->getDirectCallee());
    found |= name == "cuda" || name == "to" || name == "load";
    return !found;
  }
};

}  // namespace

bool loads_on_cpu(const clang::CXXRecordDecl& loader) {
  const clang::CXXRecordDecl* dataset = dataset_of(&loader);
  if (dataset == nullptr || dataset == &loader) return false;
  if (is_of_libtorch(*dataset)) return plain_name(dataset) == "MNIST";
  const clang::CXXRecordDecl* definition = dataset->getDefinition();
  if (definition == nullptr || definition->isDependentContext()) return false;
  for (const clang::CXXMethodDecl* method : definition->methods()) {
    if (method->isImplicit() || method->isDefaulted()) continue;
    const clang::FunctionDecl* body = method->getDefinition();
    if (body == nullptr || !body->doesThisDeclarationHaveABody()) return false;
    // Examples that are handed in may be anywhere.
    if (llvm::isa<clang::CXXConstructorDecl>(method) && takes_tensor(*method)) return false;
    NamesDevice names;
    names.TraverseDecl(const_cast<clang::FunctionDecl*>(body));
    if (names.found) return false;
  }
  return true;
}

}  // namespace devsan::lint
