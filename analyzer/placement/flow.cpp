// A worklist over clang's control-flow graph; expressions are evaluated where they stand alone.
#include "flow.h"

#include <optional>
#include <vector>

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Analysis/Analyses/PostOrderCFGView.h"
#include "clang/Analysis/CFG.h"
#include "clang/Analysis/FlowSensitive/DataflowWorklist.h"
#include "clang/Basic/SourceManager.h"
#include "expressions.h"
#include "llvm/ADT/DenseSet.h"
#include "refine.h"
#include "torch_ops.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

// What a function is given up at: ten times what the largest of real models need.
constexpr unsigned kMostBlocks = 2000;
constexpr unsigned kMostVisitsPerBlock = 16;

// A function that names no device, and makes no tensor, has nothing that could conflict.
class NamesDevice : public clang::RecursiveASTVisitor<NamesDevice> {
 public:
  bool found = false;

  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr) return true;
    const llvm::StringRef name = plain_name(callee);
    const bool copies = (name == "cpu" || name == "cuda") && is_of_libtorch(*callee);
    found |= copies || is_factory(*callee);
    return !found;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) {
    found |= is_device(made->getType()) && written_arguments(*made) > 0 &&
             !made->getConstructor()->isCopyOrMoveConstructor();
    return !found;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    found |= is_device_type(reference->getType());
    return !found;
  }
};

// Expressions whose value nothing around them takes. The graph lists their parts as well, which are
// evaluated with the whole.
class StandAlone {
 public:
  explicit StandAlone(const clang::Stmt* body) { collect(body); }
  bool contains(const clang::Stmt* statement) const {
    return llvm::isa<clang::DeclStmt, clang::ReturnStmt>(statement) ||
           expressions_.contains(statement);
  }

 private:
  void collect(const clang::Stmt* statement) {
    if (statement == nullptr) return;
    if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) {
      add(expression);
      return;
    }
    if (llvm::isa<clang::DeclStmt, clang::ReturnStmt>(statement)) return;
    for (const clang::Stmt* child : statement->children()) collect(child);
  }
  void add(const clang::Expr* expression) {
    expression = written(expression);
    expressions_.insert(expression);
    // `a && b` is two blocks.
    if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(expression);
        operation != nullptr && (operation->isLogicalOp() || operation->isCommaOp())) {
      add(operation->getLHS());
      add(operation->getRHS());
    }
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
      add(unary->getSubExpr());
    }
  }

  llvm::DenseSet<const clang::Stmt*> expressions_;
};

class Flow {
 public:
  Flow(const clang::FunctionDecl& function, clang::ASTContext& context)
      : function_(function), context_(context), stand_alone_(function.getBody()) {}

  FlowOutcome run(OnMeeting on_meeting) {
    clang::CFG::BuildOptions options;
    options.PruneTriviallyFalseEdges = true;
    options.AddInitializers = true;
    const auto graph = clang::CFG::buildCFG(&function_, function_.getBody(), &context_, options);
    if (graph == nullptr || graph->size() > kMostBlocks) return FlowOutcome::kOverLimit;
    if (!settle(*graph)) return FlowOutcome::kOverLimit;
    for (const Meeting& meeting : meetings_) on_meeting(meeting);
    return FlowOutcome::kDone;
  }

 private:
  bool settle(const clang::CFG& graph) {
    entries_.assign(graph.getNumBlockIDs(), std::nullopt);
    clang::PostOrderCFGView order(&graph);
    clang::ForwardDataflowWorklist worklist(graph, &order);
    entries_[graph.getEntry().getBlockID()].emplace(&function_);
    worklist.enqueueBlock(&graph.getEntry());
    unsigned visits = 0;
    // What conflicts before a loop's states have met conflicts the first time round.
    const auto keep = [this](const Meeting& meeting) {
      if (seen_.insert(meeting.op).second) meetings_.push_back(meeting);
    };
    while (const clang::CFGBlock* block = worklist.dequeue()) {
      if (++visits > kMostVisitsPerBlock * graph.size()) return false;
      DeviceState state = *entries_[block->getBlockID()];
      transfer(*block, state, keep);
      hand_on(*block, state, worklist);
    }
    return true;
  }

  void hand_on(const clang::CFGBlock& block, const DeviceState& state,
               clang::ForwardDataflowWorklist& worklist) {
    const bool branches = block.succ_size() == 2;
    unsigned index = 0;
    for (const clang::CFGBlock* next : block.succs()) {
      const bool condition = index++ == 0;
      if (next == nullptr) continue;
      DeviceState after = state;
      if (branches && !refine(after, block, condition)) continue;
      std::optional<DeviceState>& entry = entries_[next->getBlockID()];
      bool changed = !entry;
      if (!entry) {
        entry = std::move(after);
      } else {
        changed = entry->join_with(after);
      }
      if (changed) worklist.enqueueBlock(next);
    }
  }

  void transfer(const clang::CFGBlock& block, DeviceState& state, OnMeeting on_meeting) const {
    Evaluator evaluator(context_, state, on_meeting);
    for (const clang::CFGElement& element : block) {
      if (const auto init = element.getAs<clang::CFGInitializer>()) {
        const clang::CXXCtorInitializer* initializer = init->getInitializer();
        const Placement placement = evaluator.evaluate(initializer->getInit());
        if (initializer->isWritten() && initializer->getMember() != nullptr) {
          state.set(initializer->getMember(), placement);
        }
        continue;
      }
      const auto statement = element.getAs<clang::CFGStmt>();
      if (!statement || !stand_alone_.contains(statement->getStmt())) continue;
      evaluator.statement(statement->getStmt());
    }
  }

  const clang::FunctionDecl& function_;
  clang::ASTContext& context_;
  StandAlone stand_alone_;
  std::vector<std::optional<DeviceState>> entries_;
  llvm::DenseSet<const clang::Expr*> seen_;
  std::vector<Meeting> meetings_;
};

}  // namespace

FlowOutcome follow_devices(const clang::FunctionDecl& function, clang::ASTContext& context,
                           OnMeeting on_meeting) {
  NamesDevice names;
  names.TraverseStmt(function.getBody());
  if (!names.found) return FlowOutcome::kNothingToFollow;
  return Flow(function, context).run(on_meeting);
}

}  // namespace devsan::lint
