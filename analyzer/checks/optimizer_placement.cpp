// Looks, in one function at a time, for what was built or computed before a module was moved.
//
// Module::to keeps the parameter objects and replaces what is in them: an optimizer still has the
// right ones. Its state and the parameters' gradients are tensors of their own and stay. Adam and
// SGD make their state in the first step(), after the move; Adagrad makes it when it is built.
// What is loaded without a device is load-without-device's to report.
#include "optimizer_placement.h"

#include <vector>

#include "../placement/expressions.h"
#include "../placement/module_types.h"
#include "../placement/plain_device.h"
#include "../placement/stack_walk.h"
#include "../placement/torch_types.h"
#include "clang/AST/DeclTemplate.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;

bool is_adagrad(clang::QualType type) {
  if (type.isNull()) return false;
  const clang::CXXRecordDecl* record = record_of(type);
  if (derives_from(record, "optim", "Adagrad")) return true;
  const auto* pointer = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  return pointer != nullptr && pointer->isInStdNamespace() &&
         pointer->getTemplateArgs().size() > 0 &&
         pointer->getTemplateArgs()[0].getKind() == clang::TemplateArgument::Type &&
         is_adagrad(pointer->getTemplateArgs()[0].getAsType());
}

// `net` of `net->parameters()` somewhere in an argument.
const clang::ValueDecl* module_of_parameters(const clang::Stmt* statement) {
  if (statement == nullptr) return nullptr;
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(statement);
      call != nullptr && plain_name(call->getMethodDecl()) == "parameters") {
    return named_value(call->getImplicitObjectArgument());
  }
  for (const clang::Stmt* child : statement->children()) {
    if (const clang::ValueDecl* module = module_of_parameters(child)) return module;
  }
  return nullptr;
}

// The block, or the branch without braces, that a statement stands in. Null in an initialiser list
// of a constructor.
const clang::Stmt* block_of(Around around) {
  for (const clang::Stmt* parent : llvm::reverse(around)) {
    const bool block =
        llvm::isa<clang::CompoundStmt, clang::IfStmt, clang::ForStmt, clang::WhileStmt,
                  clang::CXXForRangeStmt, clang::SwitchCase>(parent);
    if (block) return parent;
  }
  return nullptr;
}

struct Event {
  enum class Kind { kBuilds, kMoves, kBackward, kDropsGradients, kSteps };

  Kind kind = Kind::kMoves;
  const clang::Expr* expression = nullptr;
  const clang::ValueDecl* module = nullptr;     // of kBuilds and kMoves
  const clang::ValueDecl* optimizer = nullptr;  // of kBuilds: what holds it
  const clang::Stmt* block = nullptr;
  std::vector<const clang::Stmt*> blocks;  // all around it
};

using Kind = Event::Kind;

class Body : public StackWalk<Body> {
 public:
  std::vector<Event> events;  // in the order of the source

  bool TraverseConstructorInitializer(clang::CXXCtorInitializer* init) {
    holder_ = init->getMember();
    const bool go_on = StackWalk<Body>::TraverseConstructorInitializer(init);
    holder_ = nullptr;
    return go_on;
  }
  // Runs at another time: a function of its own.
  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }

  void visit(const clang::Stmt* statement, Around around) {
    const auto* expression = llvm::dyn_cast<clang::Expr>(statement);
    if (expression == nullptr) return;
    Event event;
    event.expression = expression;
    if (!read(*expression, around, event)) return;
    event.block = block_of(around);
    event.blocks.assign(around.begin(), around.end());
    events.push_back(std::move(event));
  }

 private:
  bool read(const clang::Expr& expression, Around around, Event& event) const {
    if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&expression)) {
      const llvm::StringRef name = plain_name(method->getMethodDecl());
      const clang::Expr* object = method->getImplicitObjectArgument();
      if (object == nullptr) return false;
      if (moved_to(*method) != nullptr) {
        event.kind = Kind::kMoves;
        event.module = named_value(object);
        return event.module != nullptr;
      }
      event.kind = name == "backward"    ? Kind::kBackward
                   : name == "zero_grad" ? Kind::kDropsGradients
                                         : Kind::kSteps;
      if (name == "backward") return is_tensor(object->getType());
      return name == "zero_grad" ||
             (name == "step" &&
              derives_from(method->getMethodDecl()->getParent(), "optim", "Optimizer"));
    }
    const bool made = llvm::isa<clang::CXXConstructExpr, clang::CallExpr>(expression) &&
                      !llvm::isa<clang::CXXOperatorCallExpr>(expression);
    if (!made || !is_adagrad(expression.getType())) return false;
    event.kind = Kind::kBuilds;
    event.module = module_of_parameters(&expression);
    event.optimizer = holder(around);
    return event.module != nullptr;
  }

  // What the optimizer is put into.
  const clang::ValueDecl* holder(Around around) const {
    for (const clang::Stmt* parent : llvm::reverse(around)) {
      if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(parent)) {
        return declaration->isSingleDecl()
                   ? llvm::dyn_cast<clang::ValueDecl>(declaration->getSingleDecl())
                   : nullptr;
      }
      if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(parent);
          operation != nullptr && operation->isAssignmentOp()) {
        return named_value(operation->getArg(0));
      }
      if (!llvm::isa<clang::Expr>(parent)) break;
    }
    return holder_;
  }

  const clang::FieldDecl* holder_ = nullptr;
};

class Functions : public clang::RecursiveASTVisitor<Functions> {
 public:
  Functions(const clang::ASTContext& context, Report report) : context_(context), report_(report) {}

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (!function->doesThisDeclarationHaveABody() || function->isDependentContext()) return true;
    Body body;
    if (auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function)) {
      for (clang::CXXCtorInitializer* init : constructor->inits()) {
        if (init->isWritten()) body.TraverseConstructorInitializer(init);
      }
    }
    body.TraverseStmt(function->getBody());
    judge(body.events);
    return true;
  }
  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    if (lambda->getCallOperator()->isDependentContext()) return true;
    Body body;
    body.TraverseStmt(lambda->getBody());
    judge(body.events);
    return true;
  }

 private:
  void judge(const std::vector<Event>& events) const {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind == Kind::kBuilds) built(events, i);
      if (events[i].kind == Kind::kSteps) stepped(events, i);
    }
  }

  // Adagrad, then the move, on every way that leads past both; not built anew afterwards.
  void built(const std::vector<Event>& events, std::size_t at) const {
    const Event& optimizer = events[at];
    const Event* move = nullptr;
    for (std::size_t i = at + 1; i < events.size(); ++i) {
      const Event& event = events[i];
      const bool reached =
          optimizer.block == nullptr || llvm::is_contained(event.blocks, optimizer.block);
      const bool moves = event.kind == Kind::kMoves && event.module == optimizer.module && reached;
      if (moves && move == nullptr && leaves_cpu(event)) move = &event;
      const bool again = event.kind == Kind::kBuilds && event.optimizer == optimizer.optimizer &&
                         event.optimizer != nullptr;
      if (again) return;
    }
    if (move == nullptr) return;
    Diagnostic diagnostic;
    diagnostic.rule = kOptimizerPlacement;
    diagnostic.tokens = optimizer.expression->getSourceRange();
    const std::string module = optimizer.module->getNameAsString();
    diagnostic.message = "Adagrad makes its sums when it is built, where the parameters of '" +
                         module + "' are then; the module is moved afterwards, and the sums stay";
    diagnostic.notes.push_back({move->expression->getExprLoc(), "'" + module + "' is moved here"});
    diagnostic.advice = "build the optimizer after the move";
    report_(diagnostic);
  }

  // A move to the CPU, where modules begin, moves nothing.
  static bool leaves_cpu(const Event& move) {
    const auto* call = llvm::cast<clang::CXXMemberCallExpr>(move.expression);
    return named_device(moved_to(*call), nullptr) != PlainDevice::kCpu;
  }

  // backward(), one move and step() in one block, and the gradients not dropped in between.
  void stepped(const std::vector<Event>& events, std::size_t at) const {
    const clang::Stmt* block = events[at].block;
    const Event* move = nullptr;
    for (std::size_t i = at; i-- > 0;) {
      const Event& event = events[i];
      if (event.kind == Kind::kDropsGradients) return;
      if (event.kind == Kind::kMoves) {
        // There and back, or in a branch: nothing is certain.
        if (move != nullptr || event.block != block) return;
        move = &event;
      }
      if (event.block != block || event.kind == Kind::kBuilds) continue;
      if (event.kind == Kind::kSteps) return;
      if (event.kind != Kind::kBackward) continue;
      if (move != nullptr) left_behind(event, *move, events[at]);
      return;
    }
  }

  void left_behind(const Event& backward, const Event& move, const Event& step) const {
    Diagnostic diagnostic;
    diagnostic.rule = kOptimizerPlacement;
    diagnostic.tokens = move.expression->getSourceRange();
    diagnostic.message = "'" + quoted(move.expression, context_) +
                         "' moves parameters between backward() and step(): their gradients stay "
                         "on the old device";
    diagnostic.notes.push_back({backward.expression->getExprLoc(), "the gradients are made here"});
    diagnostic.notes.push_back({step.expression->getExprLoc(), "and used here"});
    diagnostic.advice = "move the module before the forward pass, or after step()";
    report_(diagnostic);
  }

  const clang::ASTContext& context_;
  Report report_;
};

}  // namespace

void check_optimizer_placement(clang::ASTContext& context,
                               llvm::ArrayRef<clang::Decl*> declarations, Report report) {
  Functions functions(context, report);
  for (clang::Decl* declaration : declarations) functions.TraverseDecl(declaration);
}

}  // namespace devsan::lint
