// Looks for `layer->to(device)` in the forward methods of modules, and for `net->to(x.device())` in
// loops.
#include "module_move_in_forward.h"

#include <optional>

#include "../placement/expressions.h"
#include "../placement/module_types.h"
#include "../placement/stack_walk.h"
#include "../placement/torch_types.h"
#include "llvm/ADT/DenseSet.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;
using Values = llvm::DenseSet<const clang::ValueDecl*>;

void collect_values(const clang::Stmt* statement, Values& values) {
  if (statement == nullptr) return;
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) {
    if (const clang::ValueDecl* value = named_value(expression)) values.insert(value);
  }
  for (const clang::Stmt* child : statement->children()) collect_values(child, values);
}

bool assigns_one_of(const clang::Stmt* statement, const Values& values) {
  if (statement == nullptr) return false;
  if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(statement)) {
    if (operation->isAssignmentOp() && values.contains(named_value(operation->getLHS()))) {
      return true;
    }
  }
  if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(statement)) {
    if (operation->isAssignmentOp() && values.contains(named_value(operation->getArg(0)))) {
      return true;
    }
  }
  return llvm::any_of(statement->children(),
                      [&](const clang::Stmt* child) { return assigns_one_of(child, values); });
}

bool asks_for_device(const clang::Stmt* statement) {
  if (statement == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
    const llvm::StringRef name = plain_name(call->getDirectCallee());
    if (name == "device" || name == "is_cuda" || name == "is_cpu") return true;
  }
  return llvm::any_of(statement->children(), asks_for_device);
}

// `if (!ready_) { fc->to(d); ready_ = true; }`, `if (device_ != x.device()) { ... }`: a move that
// is made when it is needed.
bool is_made_once(Around around) {
  const clang::Stmt* child = nullptr;
  for (const clang::Stmt* parent : llvm::reverse(around)) {
    const auto* branch = llvm::dyn_cast<clang::IfStmt>(parent);
    if (branch != nullptr && child != branch->getCond()) {
      Values asked;
      collect_values(branch->getCond(), asked);
      if (asks_for_device(branch->getCond()) || assigns_one_of(branch->getThen(), asked)) {
        return true;
      }
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(parent);
        call != nullptr && plain_name(call->getDirectCallee()) == "call_once") {
      return true;
    }
    child = parent;
  }
  return false;
}

// The member that a module is, or is an element of, by index or as a loop's variable.
const clang::FieldDecl* member_of(const clang::Expr* object, Around around) {
  const clang::Expr* bare = written(object);
  while (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(bare)) {
    const auto kind = operation->getOperator();
    if (kind != clang::OO_Arrow && kind != clang::OO_Star && kind != clang::OO_Subscript) break;
    bare = written(operation->getArg(0));
  }
  const clang::ValueDecl* value = named_value(bare);
  for (const clang::Stmt* parent : around) {
    const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(parent);
    if (loop != nullptr && value == loop->getLoopVariable()) {
      value = named_value(loop->getRangeInit());
    }
  }
  return llvm::dyn_cast_or_null<clang::FieldDecl>(value);
}

// `net` of `net->to(x.device())` in every turn of a loop, where it comes from outside of it: what
// is moved element by element is a set-up, and a `to` that names a device finds the module there.
const clang::ValueDecl* followed_in_loop(const clang::Expr* object, const clang::Expr* device,
                                         Around around) {
  const auto* asked = llvm::dyn_cast<clang::CXXMemberCallExpr>(written(device));
  if (asked == nullptr || plain_name(asked->getMethodDecl()) != "device" ||
      !is_tensor(asked->getImplicitObjectArgument()->getType())) {
    return nullptr;
  }
  for (const clang::Stmt* parent : llvm::reverse(around)) {
    if (llvm::isa<clang::IfStmt, clang::SwitchStmt, clang::LambdaExpr>(parent)) return nullptr;
    const bool loop =
        llvm::isa<clang::ForStmt, clang::CXXForRangeStmt, clang::WhileStmt, clang::DoStmt>(parent);
    if (!loop) continue;
    const clang::ValueDecl* module = named_value(object);
    const bool outside = llvm::isa_and_nonnull<clang::FieldDecl, clang::ParmVarDecl>(module) ||
                         (llvm::isa_and_nonnull<clang::VarDecl>(module) &&
                          (module->getLocation() < parent->getBeginLoc()));
    return outside ? module : nullptr;
  }
  return nullptr;
}

class Body : public StackWalk<Body> {
 public:
  Body(const clang::ASTContext& context, bool forward, Report report)
      : context_(context), forward_(forward), report_(report) {}

  void visit(const clang::Stmt* statement, Around around) {
    const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(statement);
    const clang::Expr* device = call == nullptr ? nullptr : moved_to(*call);
    if (device == nullptr) return;
    const clang::Expr* object = call->getImplicitObjectArgument();
    const clang::ValueDecl* module =
        forward_ ? member_of(object, around) : followed_in_loop(object, device, around);
    if (module == nullptr || is_made_once(around)) return;
    say(*call, *device, *module);
  }

 private:
  void say(const clang::CXXMemberCallExpr& call, const clang::Expr& device,
           const clang::ValueDecl& module) const {
    Diagnostic diagnostic;
    diagnostic.rule = kModuleMoveInForward;
    diagnostic.tokens = call.getSourceRange();
    diagnostic.message = std::string(forward_ ? "forward" : "the loop") + " moves '" +
                         module.getNameAsString() +
                         "' to another device: it undoes the placement that the module was given, "
                         "and copies its weights in every step";
    diagnostic.advice = "move the input to the module instead";
    add_fix(call, device, diagnostic);
    report_(diagnostic);
  }

  // `fc->to(x.device())` becomes `x = x.to(fc->parameters().front().device())`.
  void add_fix(const clang::CXXMemberCallExpr& call, const clang::Expr& device,
               Diagnostic& diagnostic) const {
    const auto* asked = llvm::dyn_cast<clang::CXXMemberCallExpr>(written(&device));
    if (asked == nullptr || plain_name(asked->getMethodDecl()) != "device") return;
    const clang::Expr* input = written(asked->getImplicitObjectArgument());
    const auto* variable = llvm::dyn_cast<clang::DeclRefExpr>(input);
    if (variable == nullptr || !is_tensor(input->getType()) ||
        variable->getDecl()->getType().getNonReferenceType().isConstQualified()) {
      return;
    }
    const auto whole = file_range(call.getSourceRange(), context_);
    if (!whole || call.getExprLoc().isMacroID()) return;
    // What stands before `to`: `fc->`, `layers_[i]->`.
    const std::string module = text_of(
        clang::CharSourceRange::getCharRange(whole->getBegin(), call.getExprLoc()), context_);
    const std::string name = variable->getDecl()->getNameAsString();
    const std::string text =
        name + " = " + name + ".to(" + module + "parameters().front().device())";
    diagnostic.edits.push_back({*whole, text});
    diagnostic.advice = "move the input to the module instead: '" + text + "'";
  }

  const clang::ASTContext& context_;
  const bool forward_;
  Report report_;
};

class Methods : public clang::RecursiveASTVisitor<Methods> {
 public:
  Methods(const clang::ASTContext& context, Report report) : context_(context), report_(report) {}

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (!function->doesThisDeclarationHaveABody() || function->isDependentContext()) return true;
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
    const bool forward = method != nullptr && plain_name(method) == "forward" &&
                         is_module_class(method->getParent());
    Body(context_, forward, report_).TraverseStmt(function->getBody());
    return true;
  }

 private:
  const clang::ASTContext& context_;
  Report report_;
};

}  // namespace

void check_module_moves_in_forward(clang::ASTContext& context,
                                   llvm::ArrayRef<clang::Decl*> declarations, Report report) {
  Methods methods(context, report);
  for (clang::Decl* declaration : declarations) methods.TraverseDecl(declaration);
}

}  // namespace devsan::lint
