// Looks, in loops, for calls that wait for a device, and for moves that give the same every time.
#include "hidden_sync.h"

#include <string>
#include <vector>

#include "../placement/expressions.h"
#include "../placement/plain_device.h"
#include "../placement/stack_walk.h"
#include "../placement/torch_types.h"
#include "clang/Basic/SourceManager.h"
#include "meeting_text.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;

constexpr std::size_t kDeep = 2;  // loops around what is reported by default

const clang::Stmt* body_of_loop(const clang::Stmt* statement) {
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement)) return loop->getBody();
  if (const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(statement)) return loop->getBody();
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(statement)) return loop->getBody();
  if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(statement)) return loop->getBody();
  return nullptr;
}

struct Loops {
  std::vector<const clang::Stmt*> bodies;  // innermost first; those of the same function
  bool in_branch = false;                  // inside the innermost one: not in every turn
};

Loops loops_around(const clang::Stmt* statement, Around around) {
  Loops loops;
  const clang::Stmt* child = statement;
  for (const clang::Stmt* parent : llvm::reverse(around)) {
    if (llvm::isa<clang::LambdaExpr>(parent)) break;
    if (body_of_loop(parent) == child) {
      loops.bodies.push_back(child);
    } else if (loops.bodies.empty()) {
      const auto* branch = llvm::dyn_cast<clang::IfStmt>(parent);
      const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(parent);
      loops.in_branch |= (branch != nullptr && child != branch->getCond()) ||
                         (choice != nullptr && child != choice->getCond()) ||
                         llvm::isa<clang::SwitchStmt, clang::CXXCatchStmt>(parent);
    }
    child = parent;
  }
  return loops;
}

// The tensor whose value the host waits for. Null when the call asks for none.
const clang::Expr* waits_for(const clang::CallExpr& call, const clang::FunctionDecl* function) {
  const llvm::StringRef name = plain_name(call.getDirectCallee());
  const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
  const clang::Expr* tensor = method != nullptr
                                  ? method->getImplicitObjectArgument()
                                  : (call.getNumArgs() > 0 ? call.getArg(0) : nullptr);
  if (tensor == nullptr || !is_tensor(tensor->getType())) return nullptr;
  if (call.getDirectCallee() == nullptr || !is_of_libtorch(*call.getDirectCallee())) return nullptr;
  if (name == "nonzero" || name == "equal") return tensor;
  if (method == nullptr) return nullptr;
  if (name == "item" || name == "cpu") return tensor;
  const bool moves = name == "to" && written_arguments(call) > 0;
  return moves && named_device(call.getArg(0), function) == PlainDevice::kCpu ? tensor : nullptr;
}

class Walk : public FunctionWalk<Walk> {
 public:
  Walk(const clang::ASTContext& context, bool unproven, Report report)
      : context_(context), unproven_(unproven), report_(report) {}

  void visit(const clang::Stmt* statement, Around around) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(statement);
    if (call == nullptr || function_ == nullptr) return;
    if (const clang::Expr* tensor = waits_for(*call, function_)) {
      waits(*call, *tensor, loops_around(statement, around));
    } else if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
               method != nullptr && plain_name(method->getMethodDecl()) == "to" &&
               written_arguments(*method) > 0) {
      moves(*method, loops_around(statement, around));
    }
  }

 private:
  void waits(const clang::CallExpr& call, const clang::Expr& tensor, const Loops& loops) const {
    if (loops.bodies.empty()) return;
    const PlainDevice device = plain_device(&tensor, function_);
    const bool proven = device == PlainDevice::kCuda && loops.bodies.size() >= kDeep;
    if (device == PlainDevice::kCpu || (loops.in_branch && !unproven_)) return;
    if (!(proven && !loops.in_branch) && !unproven_) return;
    Diagnostic diagnostic;
    diagnostic.level = proven && !loops.in_branch ? Level::kWarning : Level::kNote;
    diagnostic.message = "'" + quoted(&call, context_) +
                         "' waits for the device in every turn of " +
                         (loops.bodies.size() >= kDeep ? "nested loops" : "a loop");
    diagnostic.advice =
        "copy the whole tensor to the host once, before the loop, or collect on the "
        "device and ask once, after it";
    say(call, diagnostic);
  }

  void moves(const clang::CXXMemberCallExpr& call, const Loops& loops) const {
    const clang::Expr* tensor = call.getImplicitObjectArgument();
    if (loops.bodies.empty() || tensor == nullptr || !is_tensor(tensor->getType())) return;
    const clang::Expr* device = device_argument(&call);
    const clang::ValueDecl* moved = named_value(tensor);
    if (device == nullptr || moved == nullptr || !stays_in(moved, loops) ||
        !reads_what_stays(device, loops)) {
      return;
    }
    const bool copies = plain_device(tensor, function_) == PlainDevice::kCpu &&
                        named_device(device, function_) == PlainDevice::kCuda;
    const bool proven = copies && loops.bodies.size() >= kDeep && !loops.in_branch;
    if (!proven && !unproven_) return;
    const std::string name = moved->getNameAsString();
    Diagnostic diagnostic;
    diagnostic.level = proven ? Level::kWarning : Level::kNote;
    diagnostic.message = "'" + quoted(&call, context_) +
                         "' moves the same tensor in every turn of " +
                         (loops.bodies.size() >= kDeep ? "nested loops" : "a loop");
    diagnostic.advice = "move it once, before the loop: 'auto " + name +
                        "_moved = " + quoted(&call, context_) + ";'";
    say(call, diagnostic);
  }

  // Comes from outside the innermost loop, and is not changed in it.
  bool stays_in(const clang::ValueDecl* variable, const Loops& loops) const {
    const clang::SourceManager& sources = context_.getSourceManager();
    const clang::Stmt& body = *loops.bodies.front();
    const bool before =
        sources.isBeforeInTranslationUnit(sources.getExpansionLoc(variable->getLocation()),
                                          sources.getExpansionLoc(body.getBeginLoc()));
    const auto* local = llvm::dyn_cast<clang::VarDecl>(variable);
    const bool of_loop = local != nullptr && local->isLocalVarDecl() && is_loop_variable(*local);
    return (before || llvm::isa<clang::FieldDecl>(variable)) && !of_loop &&
           !may_change(&body, variable);
  }

  // `x` of `for (auto& x : xs)`, `i` of `for (int i = 0; ...)`: new in every turn.
  bool is_loop_variable(const clang::VarDecl& variable) const {
    return is_loop_variable(function_->getBody(), variable);
  }
  static bool is_loop_variable(const clang::Stmt* statement, const clang::VarDecl& variable) {
    if (statement == nullptr) return false;
    if (const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(statement);
        loop != nullptr && loop->getLoopVariable() == &variable) {
      return true;
    }
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement)) {
      const auto* declared = llvm::dyn_cast_or_null<clang::DeclStmt>(loop->getInit());
      if (declared != nullptr && llvm::is_contained(declared->decls(), &variable)) return true;
    }
    return llvm::any_of(statement->children(), [&](const clang::Stmt* child) {
      return is_loop_variable(child, variable);
    });
  }

  bool reads_what_stays(const clang::Stmt* statement, const Loops& loops) const {
    if (statement == nullptr) return true;
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(statement)) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
      const bool local = variable != nullptr && variable->isLocalVarDeclOrParm();
      if (local && !stays_in(variable, loops)) return false;
    }
    return llvm::all_of(statement->children(),
                        [&](const clang::Stmt* child) { return reads_what_stays(child, loops); });
  }

  void say(const clang::CallExpr& call, Diagnostic& diagnostic) const {
    diagnostic.rule = kHiddenSync;
    diagnostic.tokens = call.getSourceRange();
    report_(diagnostic);
  }

  const clang::ASTContext& context_;
  const bool unproven_;
  Report report_;
};

}  // namespace

void check_hidden_syncs(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                        bool unproven, Report report) {
  Walk walk(context, unproven, report);
  for (clang::Decl* declaration : declarations) walk.TraverseDecl(declaration);
}

}  // namespace devsan::lint
