// Finds the functions, follows each, and hands its meetings to the policies.
#include "device_flow.h"

#include <optional>
#include <vector>

#include "../placement/code_kind.h"
#include "../placement/module_methods.h"
#include "../placement/torch_types.h"
#include "../placement/unit_analysis.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "factory_without_device.h"
#include "mixed_devices.h"
#include "unmoved_tensor.h"

namespace devsan::lint {
namespace {

// `EXPECT_THROW(a + b.cuda(), c10::Error)`: the mistake is the test.
bool expects_failure(clang::SourceLocation place, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  while (place.isMacroID()) {
    const llvm::StringRef macro =
        clang::Lexer::getImmediateMacroName(place, sources, context.getLangOpts());
    if (macro.contains("THROW") || macro.contains("DEATH")) return true;
    place = sources.getImmediateMacroCallerLoc(place);
  }
  return false;
}

class Walk : public clang::RecursiveASTVisitor<Walk> {
 public:
  Walk(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
       const DeviceFlowRules& rules, const std::string& project_root, Report report,
       const SummaryTable* others)
      : context_(context),
        unit_(context, others),
        kinds_(context, declarations, project_root),
        rules_(rules),
        report_(report) {}

  int over_limit = 0;

  void tell(UnitExchange& exchange) {
    exchange.summaries = unit_.summaries();
    exchange.asked = unit_.asked();
  }

  // In a template nothing has a type.
  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    follow(*function);
    return true;
  }
  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    follow(*lambda->getCallOperator());
    return true;
  }

 private:
  void follow(const clang::FunctionDecl& function) {
    if (!function.doesThisDeclarationHaveABody() || function.isDependentContext() ||
        function.isDefaulted() || function.isInvalidDecl()) {
      return;
    }
    const FunctionFlow& flow = unit_.follow(function);
    for (const Meeting& meeting : flow.meetings) judge(meeting, function);
    if (flow.outcome == FlowOutcome::kOverLimit) ++over_limit;
  }

  void judge(const Meeting& meeting, const clang::FunctionDecl& function) const {
    if (expects_failure(meeting.op->getExprLoc(), context_)) return;
    std::optional<Diagnostic> diagnostic;
    switch (meeting.conflict) {
      case Conflict::kCpuAndCuda:
        if (rules_.unmoved_tensor) diagnostic = unmoved_tensor(meeting, context_);
        break;
      case Conflict::kTwoCudas:
        if (rules_.mixed_devices) diagnostic = mixed_devices(meeting, context_);
        break;
      case Conflict::kPossible:
        if (rules_.factory_without_device && is_module_code(function, meeting)) {
          diagnostic = factory_without_device(meeting, context_);
        }
        break;
      case Conflict::kNone:
        break;
    }
    if (diagnostic) report_(*diagnostic);
  }

  // The method, or the lambda in it, of a module that is not a test's. While the module is made,
  // and in what works on tensors of its own making, all is on the CPU.
  bool is_module_code(const clang::FunctionDecl& function, const Meeting& meeting) const {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
    if (method != nullptr && !gets_inputs(*method)) return false;
    llvm::SmallVector<const clang::Decl*, 4> enclosing;
    for (const clang::DeclContext* context = &function; context != nullptr;
         context = context->getParent()) {
      enclosing.insert(enclosing.begin(), clang::Decl::castFromDeclContext(context));
    }
    return kinds_.of(enclosing, meeting.op->getExprLoc()) == CodeKind::kModule;
  }

  clang::ASTContext& context_;
  UnitAnalysis unit_;
  CodeKinds kinds_;
  const DeviceFlowRules& rules_;
  Report report_;
};

}  // namespace

int check_device_flow(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                      const DeviceFlowRules& rules, const std::string& project_root, Report report,
                      UnitExchange* exchange) {
  Walk walk(context, declarations, rules, project_root, report,
            exchange == nullptr ? nullptr : exchange->known);
  for (clang::Decl* declaration : declarations) walk.TraverseDecl(declaration);
  if (exchange != nullptr) walk.tell(*exchange);
  return walk.over_limit;
}

}  // namespace devsan::lint
