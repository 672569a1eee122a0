// Two ways in which copies of a module on several devices go wrong: a tensor that all of them are
// given as it is, and a class that cannot be copied because its constructor registers.
#include "replica_device.h"

#include "../placement/expressions.h"
#include "../placement/member_facts.h"
#include "../placement/module_types.h"
#include "../placement/plain_device.h"
#include "../placement/stack_walk.h"
#include "../placement/torch_types.h"
#include "clang/Basic/SourceManager.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;

// The call in `statement` that `wanted` accepts first. Null when there is none.
const clang::CallExpr* find_call(const clang::Stmt* statement,
                                 llvm::function_ref<bool(const clang::CallExpr&)> wanted) {
  if (statement == nullptr) return nullptr;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement); call && wanted(*call)) {
    return call;
  }
  for (const clang::Stmt* child : statement->children()) {
    if (const clang::CallExpr* call = find_call(child, wanted)) return call;
  }
  return nullptr;
}

// `model->clone(device)`
bool clones_to_device(const clang::CallExpr& call) {
  const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
  return method != nullptr && plain_name(method->getMethodDecl()) == "clone" &&
         written_arguments(call) == 1 &&
         derives_from(method->getMethodDecl()->getParent(), "nn", "Module");
}

// `torch::nn::parallel::replicate(model, devices)`
bool replicates(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  return callee != nullptr && plain_name(callee) == "replicate" && is_of_libtorch(*callee);
}

const clang::Stmt* body_of_loop(const clang::Stmt* statement) {
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement)) return loop->getBody();
  if (const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(statement)) return loop->getBody();
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(statement)) return loop->getBody();
  return nullptr;
}

// A module whose forward is not here may move what it is given.
bool takes_as_is(const clang::CXXRecordDecl& module) {
  if (is_of_libtorch(module)) return true;
  for (const clang::CXXMethodDecl* method : module.methods()) {
    if (plain_name(method) == "forward") return takes_as_it_is(method);
  }
  return false;
}

class Walk : public StackWalk<Walk> {
 public:
  Walk(const clang::ASTContext& context, Report report) : context_(context), report_(report) {}

  bool TraverseFunctionDecl(clang::FunctionDecl* function) {
    return within(function, [&] { return StackWalk<Walk>::TraverseFunctionDecl(function); });
  }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl* function) {
    return within(function, [&] { return StackWalk<Walk>::TraverseCXXMethodDecl(function); });
  }

  bool VisitCXXRecordDecl(clang::CXXRecordDecl* record) {
    const bool own = record->isThisDeclarationADefinition() && !record->isDependentContext();
    if (own && derives_from(record, "nn", "Cloneable")) check_registration(*record);
    return true;
  }

  void visit(const clang::Stmt* statement, Around around) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(statement);
    if (call == nullptr || function_ == nullptr) return;
    const clang::Expr* object = nullptr;
    unsigned first = 0;
    if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
        method != nullptr && plain_name(method->getMethodDecl()) == "forward") {
      object = method->getImplicitObjectArgument();
    } else if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
               operation != nullptr && operation->getOperator() == clang::OO_Call) {
      object = operation->getArg(0);
      first = 1;
    }
    if (object == nullptr) return;
    const clang::CXXRecordDecl* module = module_of(written(object)->getType());
    if (module == nullptr || !takes_as_is(*module)) return;
    for (const clang::Stmt* parent : llvm::reverse(around)) {
      if (llvm::isa<clang::LambdaExpr>(parent)) return;
      if (body_of_loop(parent) == nullptr) continue;
      check_call(*call, first, *object, *parent);
      return;
    }
  }

 private:
  template <typename Traverse>
  bool within(const clang::FunctionDecl* function, Traverse traverse) {
    const clang::FunctionDecl* outer = function_;
    function_ = function->isDependentContext() ? nullptr : function;
    const bool go_on = traverse();
    function_ = outer;
    return go_on;
  }

  // The call that makes a replica of what `object` names. Null when it is none, or when one replica
  // serves every turn of the loop.
  const clang::CallExpr* replica(const clang::Expr& object, const clang::Stmt& loop) const {
    const clang::Expr* bare = written(&object);
    while (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(bare)) {
      if (operation->getOperator() == clang::OO_Subscript) {  // `replicas[i]`
        return made_by_replicate(named_value(operation->getArg(0)));
      }
      if (operation->getOperator() != clang::OO_Arrow &&
          operation->getOperator() != clang::OO_Star) {
        break;
      }
      bare = written(operation->getArg(0));
    }
    const auto* variable = llvm::dyn_cast_or_null<clang::VarDecl>(named_value(bare));
    if (variable == nullptr || variable->getInit() == nullptr || !is_in(*variable, loop)) {
      return nullptr;
    }
    if (const auto* range = llvm::dyn_cast<clang::CXXForRangeStmt>(&loop);
        range != nullptr && range->getLoopVariable() == variable) {
      return made_by_replicate(named_value(range->getRangeInit()));
    }
    return find_call(variable->getInit(), clones_to_device);
  }

  const clang::CallExpr* made_by_replicate(const clang::ValueDecl* replicas) const {
    const clang::Expr* value = only_value(replicas, function_);
    return value == nullptr ? nullptr : find_call(value, replicates);
  }

  bool is_in(const clang::Decl& declaration, const clang::Stmt& statement) const {
    const clang::SourceManager& sources = context_.getSourceManager();
    const clang::SourceLocation place = sources.getExpansionLoc(declaration.getLocation());
    return !sources.isBeforeInTranslationUnit(place,
                                              sources.getExpansionLoc(statement.getBeginLoc())) &&
           sources.isBeforeInTranslationUnit(place, sources.getExpansionLoc(statement.getEndLoc()));
  }

  void check_call(const clang::CallExpr& call, unsigned first, const clang::Expr& object,
                  const clang::Stmt& loop) const {
    const clang::CallExpr* made = replica(object, loop);
    if (made == nullptr) return;
    for (unsigned i = first; i < call.getNumArgs(); ++i) {
      const clang::Expr* argument = written(call.getArg(i));
      const clang::ValueDecl* tensor = named_value(argument);
      const bool outside = tensor != nullptr && is_tensor(argument->getType()) &&
                           llvm::isa<clang::VarDecl, clang::FieldDecl>(tensor) &&
                           !is_in(*tensor, loop);
      if (outside && !may_change(body_of_loop(&loop), tensor)) say(*argument, *made);
    }
  }

  void say(const clang::Expr& tensor, const clang::CallExpr& made) const {
    const std::string name = quoted(&tensor, context_);
    Diagnostic diagnostic;
    diagnostic.rule = kReplicaDevice;
    diagnostic.tokens = tensor.getSourceRange();
    diagnostic.message = "'" + name +
                         "' is on one device in every turn of the loop, and each replica is on "
                         "another";
    diagnostic.notes.push_back({made.getExprLoc(), "the replicas are made here"});
    diagnostic.advice = "move it to the replica's device";
    const auto end = file_range(tensor.getSourceRange(), context_);
    if (clones_to_device(made) && end) {
      const std::string move = ".to(" + quoted(made.getArg(0), context_) + ")";
      diagnostic.edits.push_back(
          {clang::CharSourceRange::getCharRange(end->getEnd(), end->getEnd()), move});
      diagnostic.advice = "move it to the replica's device: '" + name + move + "'";
    }
    report_(diagnostic);
  }

  static bool registers(const clang::CallExpr& call) { return is_registration(callee_name(call)); }

  // clone() copies the members, forgets what was registered, and calls reset() to register anew.
  void check_registration(const clang::CXXRecordDecl& record) const {
    const clang::FunctionDecl* reset = nullptr;
    for (const clang::CXXMethodDecl* method : record.methods()) {
      const clang::FunctionDecl* definition = nullptr;
      if (plain_name(method) == "reset" && method->hasBody(definition)) reset = definition;
    }
    // What it calls may register.
    const auto any = [](const clang::CallExpr&) { return true; };
    if (reset == nullptr || find_call(reset->getBody(), any) != nullptr) return;
    for (const clang::CXXConstructorDecl* constructor : record.ctors()) {
      const clang::FunctionDecl* definition = nullptr;
      if (constructor->isImplicit() || !constructor->hasBody(definition)) continue;
      const clang::CallExpr* call = nullptr;
      for (const clang::CXXCtorInitializer* init :
           llvm::cast<clang::CXXConstructorDecl>(definition)->inits()) {
        if (call == nullptr) call = find_call(init->getInit(), registers);
      }
      if (call == nullptr) call = find_call(definition->getBody(), registers);
      if (call == nullptr) continue;
      Diagnostic diagnostic;
      diagnostic.rule = kReplicaDevice;
      diagnostic.tokens = call->getSourceRange();
      diagnostic.message = "'" + record.getNameAsString() +
                           "' registers in its constructor and not in reset(): clone(), and with "
                           "it replicate() and data_parallel(), throw";
      diagnostic.notes.push_back({reset->getLocation(), "reset() is here"});
      diagnostic.advice = "register in reset(), and call reset() in the constructor";
      report_(diagnostic);
      return;
    }
  }

  const clang::ASTContext& context_;
  Report report_;
  const clang::FunctionDecl* function_ = nullptr;
};

}  // namespace

void check_replica_device(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                          Report report) {
  Walk walk(context, report);
  for (clang::Decl* declaration : declarations) walk.TraverseDecl(declaration);
}

}  // namespace devsan::lint
