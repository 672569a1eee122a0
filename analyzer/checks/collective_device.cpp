// Collectives by the type of the process group, ranks by the calls and names that tell them.
//
// Numbered devices are reported in what sets programs up; elsewhere they are hard-coded-device's.
#include "collective_device.h"

#include <vector>

#include "../placement/clang_compat.h"
#include "../placement/code_kind.h"
#include "../placement/device_literal.h"
#include "../placement/expressions.h"
#include "../placement/plain_device.h"
#include "../placement/stack_walk.h"
#include "../placement/torch_types.h"
#include "clang/AST/DeclTemplate.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;

// A ProcessGroupNCCL, or what points to one.
bool is_nccl(clang::QualType type) {
  if (type.isNull()) return false;
  type = type.getNonReferenceType();
  if (type->isPointerType()) return is_nccl(type->getPointeeType());
  const clang::CXXRecordDecl* record = record_of(type);
  if (derives_from(record, "c10d", "ProcessGroupNCCL")) return true;
  const auto* pointer = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  const bool points = StringSwitch<bool>(plain_name(pointer))
                          .Cases({"intrusive_ptr", "shared_ptr", "unique_ptr"}, true)
                          .Default(false);
  return points && pointer->getTemplateArgs()[0].getKind() == clang::TemplateArgument::Type &&
         is_nccl(pointer->getTemplateArgs()[0].getAsType());
}

// Something in a group's initialiser is an NCCL group: it may be kept by its base.
bool makes_nccl(const clang::Stmt* statement) {
  if (statement == nullptr) return false;
  const auto* expression = llvm::dyn_cast<clang::Expr>(statement);
  if (expression != nullptr && is_nccl(expression->getType())) return true;
  return llvm::any_of(statement->children(), makes_nccl);
}

bool is_collective(llvm::StringRef method) {
  return StringSwitch<bool>(method)
      .Cases({"allreduce", "allreduce_coalesced", "broadcast", "reduce", "send", "recv"}, true)
      .Cases({"allgather", "_allgather_base", "allgather_coalesced", "gather", "scatter"}, true)
      .Cases({"reduce_scatter", "_reduce_scatter_base", "alltoall", "alltoall_base"}, true)
      .Default(false);
}

bool is_rank_name(llvm::StringRef name) {
  while (name.consume_back("_")) {
  }
  return StringSwitch<bool>(name)
      .Cases({"local_rank", "localRank", "world_rank", "worldRank", "global_rank"}, true)
      .Cases({"globalRank", "my_rank", "myRank", "mpi_rank", "mpiRank"}, true)
      .Default(false);
}

// `group->getRank()`, `MPI_Comm_rank(...)`, `getenv("LOCAL_RANK")`.
bool asks_for_rank(const clang::CallExpr& call) {
  const llvm::StringRef name = plain_name(call.getDirectCallee());
  if (name == "getenv" && call.getNumArgs() == 1) {
    const auto* text = llvm::dyn_cast<clang::StringLiteral>(written(call.getArg(0)));
    return text != nullptr && text->isOrdinary() && text->getString().ends_with("RANK");
  }
  return StringSwitch<bool>(name)
      .Cases({"getRank", "get_rank", "MPI_Comm_rank", "ncclCommUserRank"}, true)
      .Default(false);
}

bool mentions_rank(const clang::Stmt* statement) {
  if (statement == nullptr) return false;
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) {
    const llvm::StringRef name = plain_name(named_value(expression));
    if (is_rank_name(name) || name == "rank" || name == "rank_") return true;
  }
  return llvm::any_of(statement->children(), mentions_rank);
}

// Whether a function knows which rank it is.
class KnowsRank : public clang::RecursiveASTVisitor<KnowsRank> {
 public:
  bool found = false;

  bool VisitCallExpr(clang::CallExpr* call) {
    found |= asks_for_rank(*call);
    return !found;
  }
  bool VisitValueDecl(clang::ValueDecl* value) {
    const clang::QualType type = value->getType();  // null: a binding of what did not parse
    found |= !type.isNull() && type->isIntegerType() && is_rank_name(plain_name(value));
    return !found;
  }
};

class Walk : public StackWalk<Walk> {
 public:
  Walk(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
       const std::string& project_root, Report report)
      : context_(context), kinds_(context, declarations, project_root), report_(report) {}

  bool TraverseDecl(clang::Decl* declaration) {
    if (declaration == nullptr) return true;
    enclosing_.push_back(declaration);
    const clang::FunctionDecl* outer = function_;
    const bool outer_knows = knows_rank_;
    if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      function_ = function->isDependentContext() ? nullptr : function;
      KnowsRank knows;
      for (clang::ParmVarDecl* parameter : function->parameters()) knows.TraverseDecl(parameter);
      knows.TraverseStmt(function->getBody());
      knows_rank_ = knows.found;
    }
    const bool go_on = StackWalk<Walk>::TraverseDecl(declaration);
    function_ = outer;
    knows_rank_ = outer_knows;
    enclosing_.pop_back();
    return go_on;
  }

  void visit(const clang::Stmt* statement, Around around) {
    if (function_ == nullptr) return;
    if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(statement)) collective(*call);
    const auto* expression = llvm::dyn_cast<clang::Expr>(statement);
    if (expression != nullptr && knows_rank_) numbered(*expression, around);
  }

 private:
  bool is_nccl_group(const clang::Expr& object) const {
    const clang::Expr* bare = written(&object);
    if (const auto* arrow = llvm::dyn_cast<clang::CXXOperatorCallExpr>(bare);
        arrow != nullptr && arrow->getOperator() == clang::OO_Arrow) {
      bare = written(arrow->getArg(0));
    }
    if (is_nccl(bare->getType())) return true;
    return makes_nccl(only_value(named_value(bare), function_));
  }

  void collective(const clang::CXXMemberCallExpr& call) const {
    const llvm::StringRef name = plain_name(call.getMethodDecl());
    const clang::Expr* object = call.getImplicitObjectArgument();
    if (!is_collective(name) || object == nullptr || !is_nccl_group(*object)) return;
    for (const clang::Expr* argument : call.arguments()) {
      std::vector<const clang::Expr*> tensors;
      add_tensors(argument, tensors);
      for (const clang::Expr* tensor : tensors) {
        if (plain_device(tensor, function_) == PlainDevice::kCpu) say(call, name, *tensor);
      }
    }
  }

  // The tensors in an argument: itself, those of a list that is written out, or of the one that a
  // variable was made from and what is put into it.
  void add_tensors(const clang::Expr* argument, std::vector<const clang::Expr*>& tensors) const {
    const clang::Expr* bare = written(argument);
    if (is_tensor(bare->getType())) {
      tensors.push_back(bare);
      return;
    }
    if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(bare)) {
      for (const clang::Expr* element : list->inits()) add_tensors(element, tensors);
    } else if (const auto* standard = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(bare)) {
      add_tensors(standard->getSubExpr(), tensors);
    } else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare)) {
      if (written_arguments(*made) == 1) add_tensors(made->getArg(0), tensors);
    } else if (const auto* variable = llvm::dyn_cast_or_null<clang::VarDecl>(named_value(bare));
               variable != nullptr && variable->isLocalVarDecl() &&
               variable->getInit() != nullptr) {
      add_tensors(variable->getInit(), tensors);
      add_put(function_->getBody(), *variable, tensors);
    }
  }

  void add_put(const clang::Stmt* statement, const clang::VarDecl& container,
               std::vector<const clang::Expr*>& tensors) const {
    if (statement == nullptr) return;
    if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(statement);
        call != nullptr && call->getImplicitObjectArgument() != nullptr &&
        named_value(call->getImplicitObjectArgument()) == &container) {
      const llvm::StringRef name = plain_name(call->getMethodDecl());
      const bool puts = name == "push_back" || name == "emplace_back";
      if (puts && call->getNumArgs() == 1) add_tensors(call->getArg(0), tensors);
    }
    for (const clang::Stmt* child : statement->children()) add_put(child, container, tensors);
  }

  void say(const clang::CXXMemberCallExpr& call, llvm::StringRef name,
           const clang::Expr& tensor) const {
    Diagnostic diagnostic;
    diagnostic.rule = kCollectiveDevice;
    diagnostic.tokens = tensor.getSourceRange();
    diagnostic.message = "'" + quoted(&tensor, context_) + "' is on the CPU, and NCCL's '" +
                         name.str() + "' takes CUDA tensors only";
    diagnostic.notes.push_back({call.getExprLoc(), "the collective is here"});
    diagnostic.advice = "make it on this rank's device, or use a Gloo group for it";
    report_(diagnostic);
  }

  // In a branch that asks for the rank, the number is meant.
  static bool asked_for_rank(Around around) {
    const clang::Stmt* child = nullptr;
    for (const clang::Stmt* parent : llvm::reverse(around)) {
      const clang::Expr* condition = nullptr;
      if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(parent)) condition = branch->getCond();
      if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(parent)) {
        condition = choice->getCond();
      }
      if (condition != nullptr && child != condition && mentions_rank(condition)) return true;
      if (llvm::isa<clang::SwitchStmt>(parent)) return true;
      child = parent;
    }
    return false;
  }

  void numbered(const clang::Expr& expression, Around around) const {
    const auto source = device_source(&expression, function_, context_);
    if (!source || source->index != Index::kLiteral || asked_for_rank(around)) return;
    if (kinds_.of(enclosing_, expression.getExprLoc()) != CodeKind::kSetUp) return;
    Diagnostic diagnostic;
    diagnostic.rule = kCollectiveDevice;
    diagnostic.tokens = expression.getSourceRange();
    diagnostic.message = "'" + quoted(&expression, context_) +
                         "' is the same GPU in every rank, in code that knows which rank it is";
    diagnostic.advice = "make it from the local rank: 'torch::Device(torch::kCUDA, local_rank)'";
    report_(diagnostic);
  }

  clang::ASTContext& context_;
  CodeKinds kinds_;
  Report report_;
  const clang::FunctionDecl* function_ = nullptr;
  bool knows_rank_ = false;
  std::vector<const clang::Decl*> enclosing_;
};

}  // namespace

void check_collective_devices(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                              const std::string& project_root, Report report) {
  Walk walk(context, declarations, project_root, report);
  for (clang::Decl* declaration : declarations) walk.TraverseDecl(declaration);
}

}  // namespace devsan::lint
