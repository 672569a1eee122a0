// The walk keeps its own stack of statements and declarations: clang's parent map is never built.
#include "device_use.h"

#include "../placement/clang_compat.h"
#include "../placement/expressions.h"
#include "../placement/torch_types.h"
#include "clang/AST/RecursiveASTVisitor.h"

namespace devsan::lint {
namespace {

// Functions that take a device to look something up, and place nothing.
bool only_asks(const clang::FunctionDecl* callee) {
  if (callee == nullptr) return false;
  if (callee->getReturnType()->isBooleanType()) return true;
  return StringSwitch<bool>(plain_name(callee))
      .Cases({"defaultGenerator", "getDefaultCUDAGenerator", "lazyInitDevice"}, true)
      .Cases({"getDeviceProperties", "get_device_properties", "find", "count", "at"}, true)
      .Default(false);
}

bool sets_current_device(const clang::FunctionDecl* callee) {
  return StringSwitch<bool>(plain_name(callee))
      .Cases({"set_device", "cudaSetDevice", "SetDevice", "ExchangeDevice", "hipSetDevice"}, true)
      .Default(false);
}

class Walk : public clang::RecursiveASTVisitor<Walk> {
 public:
  Walk(clang::ASTContext& context, llvm::function_ref<void(const DeviceUses&)> found)
      : context_(context), found_(found) {}

  bool TraverseDecl(clang::Decl* declaration) {
    if (declaration == nullptr) return true;
    const bool scope =
        llvm::isa<clang::FunctionDecl, clang::CXXRecordDecl, clang::FieldDecl>(declaration);
    if (!scope) return RecursiveASTVisitor::TraverseDecl(declaration);
    enclosing_.push_back(declaration);
    // Uses inside a local class's methods belong to those, not to the function around it.
    DeviceUses outer = std::move(uses_);
    uses_ = DeviceUses{};
    uses_.function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    auto outer_stack = std::move(stack_);
    stack_.clear();
    const bool go_on = RecursiveASTVisitor::TraverseDecl(declaration);
    if (!uses_.uses.empty()) found_(uses_);
    uses_ = std::move(outer);
    stack_ = std::move(outer_stack);
    enclosing_.pop_back();
    return go_on;
  }

  std::set<clang::FileID> told_where;

  // Initialiser lists have two forms; conversions to Device are only in the semantic one.
  bool TraverseInitListExpr(clang::InitListExpr* list, DataRecursionQueue* = nullptr) {
    const clang::InitListExpr* semantic = list->isSemanticForm() ? list : list->getSemanticForm();
    if (semantic == nullptr) semantic = list;
    for (clang::Expr* element : const_cast<clang::InitListExpr*>(semantic)->inits()) {
      if (element != nullptr && !TraverseStmt(element)) return false;
    }
    return true;
  }

  bool dataTraverseStmtPre(clang::Stmt* statement) {
    stack_.push_back(statement);
    if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) visit(expression);
    return true;
  }
  bool dataTraverseStmtPost(clang::Stmt*) {
    stack_.pop_back();
    return true;
  }

  bool VisitVarDecl(clang::VarDecl* variable) {
    uses_.sets_current_device |= is_device_guard(variable->getType());
    return true;
  }

  bool VisitDeclaratorDecl(clang::DeclaratorDecl* declared) {
    if (llvm::isa<clang::FieldDecl, clang::ParmVarDecl>(declared) &&
        is_device(declared->getType().getNonReferenceType())) {
      told_where.insert(file_of(declared->getLocation(), context_));
    }
    return true;
  }

  // Globals and members are not inside a function: each stands alone.
  void flush() {
    if (!uses_.uses.empty()) found_(uses_);
    uses_ = DeviceUses{};
  }

 private:
  void visit(const clang::Expr* expression) {
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(expression)) {
      uses_.sets_current_device |= sets_current_device(call->getDirectCallee());
    }
    auto source = device_source(expression, uses_.function, context_);
    if (!source) return;
    DeviceUse use;
    use.source = *source;
    if (!decides_placement(use)) return;
    use.function = uses_.function;
    use.enclosing.assign(enclosing_.begin(), enclosing_.end());
    if (use.source.choice != nullptr) {
      use.choice = use.source.choice;
      use.question = device_question(use.choice->getCond());
    }
    uses_.uses.push_back(std::move(use));
  }

  // Climbs from the literal to what takes the device it makes.
  bool decides_placement(DeviceUse& use) {
    use.replaceable = written_range(use.source);
    if (use.source.first == nullptr) use.moved = object_of(use.source.made);
    bool taken = false;  // by something that places: further up only the branches matter
    const clang::Stmt* child = use.source.made;
    for (std::size_t above = stack_.size() - 1; above-- > 0;) {
      const clang::Stmt* parent = stack_[above];
      if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(parent)) {
        if (use.lambda == nullptr) use.lambda = lambda;
        taken = true;
      }
      if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(parent)) {
        if (child != branch->getCond()) note_question(use, branch->getCond(), nullptr);
      }
      if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(parent)) {
        if (child != choice->getCond()) note_question(use, choice->getCond(), choice);
      }
      if (llvm::isa<clang::UnaryExprOrTypeTraitExpr, clang::CXXNoexceptExpr>(parent)) return false;
      if (!taken && !passes_on(parent, child, use, taken)) return false;
      child = parent;
    }
    return true;
  }

  // The tensor that a method is called on, null when there is none.
  static const clang::Expr* object_of(const clang::Expr* expression) {
    const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(expression);
    if (call == nullptr || call->getMethodDecl() == nullptr) return nullptr;
    const bool of_tensor = is_tensor(call->getMethodDecl()->getThisType()->getPointeeType());
    return of_tensor ? call->getImplicitObjectArgument() : nullptr;
  }

  static clang::SourceRange written_range(const DeviceSource& source) {
    if (source.first == nullptr) return source.made->getSourceRange();
    const bool whole =
        llvm::isa<clang::CXXTemporaryObjectExpr>(source.made) && is_device(source.made->getType());
    if (whole) return source.made->getSourceRange();
    return clang::SourceRange(source.first->getBeginLoc(), source.last->getEndLoc());
  }

  // What `parent` does with the device below it. False: it only asks.
  bool passes_on(const clang::Stmt* parent, const clang::Stmt* child, DeviceUse& use, bool& taken) {
    if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(parent)) {
      return operation->isAssignmentOp() || operation->isCommaOp();
    }
    if (llvm::isa<clang::CXXRewrittenBinaryOperator>(parent)) return false;
    if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(parent)) {
      // `x.cuda() + y` places x; `device == kCUDA` and `out << device` place nothing.
      taken = true;
      return operation->isAssignmentOp() || operation->getOperator() == clang::OO_Call ||
             !is_device(llvm::cast<clang::Expr>(child)->getType());
    }
    if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(parent)) {
      if (call->getCallee() == child) return goes_on_after(call);
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(parent)) {
      taken = true;
      if (plain_name(call->getDirectCallee()) == "to") use.moved = object_of(call);
      return !only_asks(call->getDirectCallee());
    }
    if (const auto* cast = llvm::dyn_cast<clang::CXXFunctionalCastExpr>(parent)) {
      const bool names_it =
          is_device(cast->getType()) && cast->getSubExpr()->IgnoreImplicit() == use.source.made;
      if (names_it) use.replaceable = cast->getSourceRange();
    }
    return true;
  }

  // A method called on what the literal made: `options.device(kCUDA).dtype(...)` goes on,
  // `torch::Device("cuda:0").index()` asks, `.device(kCUDA).device_index(i)` gives the index later.
  static bool goes_on_after(const clang::CXXMemberCallExpr* call) {
    if (call->getMethodDecl() == nullptr) return true;
    const bool index_later =
        plain_name(call->getMethodDecl()) == "device_index" && call->getNumArgs() == 1;
    const clang::QualType object = call->getMethodDecl()->getThisType()->getPointeeType();
    return !index_later && !is_device(object);
  }

  // The innermost question wins: it is the one that chose this literal.
  static void note_question(DeviceUse& use, const clang::Expr* condition,
                            const clang::ConditionalOperator* choice) {
    if (use.choice != nullptr || condition == nullptr) return;
    const DeviceQuestion question = device_question(condition);
    if (choice != nullptr) {
      use.choice = choice;
      use.question = question;
    } else if (use.question.tensor == nullptr && !use.question.availability) {
      use.question = question;
    }
  }

  clang::ASTContext& context_;
  llvm::function_ref<void(const DeviceUses&)> found_;
  llvm::SmallVector<const clang::Decl*, 8> enclosing_;
  std::vector<const clang::Stmt*> stack_;
  DeviceUses uses_;
};

}  // namespace

std::set<clang::FileID> find_device_uses(clang::ASTContext& context,
                                         llvm::ArrayRef<clang::Decl*> declarations,
                                         llvm::function_ref<void(const DeviceUses&)> found) {
  Walk walk(context, found);
  for (clang::Decl* declaration : declarations) {
    walk.TraverseDecl(declaration);
    walk.flush();
  }
  return walk.told_where;
}

}  // namespace devsan::lint
