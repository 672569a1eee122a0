// A worklist over clang's control-flow graph; expressions are evaluated where they stand alone.
#include "flow.h"

#include <optional>
#include <tuple>
#include <vector>

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Analysis/Analyses/PostOrderCFGView.h"
#include "clang/Analysis/CFG.h"
#include "clang/Analysis/FlowSensitive/DataflowWorklist.h"
#include "expressions.h"
#include "llvm/ADT/DenseSet.h"
#include "refine.h"
#include "summarise.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

// What a function is given up at: ten times what the largest of real models need.
constexpr unsigned kMostBlocks = 2000;
constexpr unsigned kMostVisitsPerBlock = 16;
// What a summary keeps of what meets inside.
constexpr std::size_t kMostRequirements = 32;

// A function in which nothing can be on a device has nothing to follow.
class ConcernsDevices : public clang::RecursiveASTVisitor<ConcernsDevices> {
 public:
  explicit ConcernsDevices(UnitAnalysis& unit) : unit_(unit) {}

  bool found = false;

  bool VisitExpr(clang::Expr* expression) {
    found |= unit_.concerns_devices(expression->getType());
    return !found;
  }

 private:
  UnitAnalysis& unit_;
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
  Flow(const clang::FunctionDecl& function, UnitAnalysis& unit)
      : function_(function),
        unit_(unit),
        stand_alone_(function.getBody()),
        summariser_(function, unit.context(), unit.paths()) {}

  FunctionFlow run() {
    FunctionFlow flow;
    clang::CFG::BuildOptions options;
    options.PruneTriviallyFalseEdges = true;
    options.AddInitializers = true;
    graph_ = clang::CFG::buildCFG(&function_, function_.getBody(), &unit_.context(), options);
    if (graph_ == nullptr || graph_->size() > kMostBlocks || !settle() || unit_.was_too_deep()) {
      flow.outcome = FlowOutcome::kOverLimit;
      return flow;
    }
    flow.outcome = FlowOutcome::kDone;
    flow.summary = summary();
    flow.meetings = std::move(meetings_);
    return flow;
  }

 private:
  struct Candidate {
    const clang::CFGBlock* block;
    Summariser::Asked asked;
  };

  bool settle() {
    entries_.resize(graph_->getNumBlockIDs());
    clang::PostOrderCFGView order(graph_.get());
    clang::ForwardDataflowWorklist worklist(*graph_, &order);
    entries_[graph_->getEntry().getBlockID()].emplace(&function_, unit_.paths());
    worklist.enqueueBlock(&graph_->getEntry());
    unsigned visits = 0;
    while (const clang::CFGBlock* block = worklist.dequeue()) {
      if (++visits > kMostVisitsPerBlock * graph_->size()) return false;
      DeviceState state = *entries_[block->getBlockID()];
      transfer(*block, state);
      hand_on(*block, state, worklist);
    }
    return true;
  }

  void hand_on(const clang::CFGBlock& block, const DeviceState& state,
               clang::ForwardDataflowWorklist& worklist) {
    if (!goes_on(block)) return;
    const bool branches = block.succ_size() == 2;
    unsigned index = 0;
    for (const clang::CFGBlock* next : block.succs()) {
      const bool condition = index++ == 0;
      if (next == nullptr) continue;
      DeviceState after = state;
      if (branches) {
        const Refinement refinement = refine(after, unit_, block, condition);
        if (refinement.dead) continue;
        learned_[{block.getBlockID(), condition}] = refinement;
      }
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

  // False for a block that ends in a throw, or in a call that does not return.
  static bool goes_on(const clang::CFGBlock& block) {
    if (block.hasNoReturnElement()) return false;
    if (block.empty()) return true;
    const auto last = block.back().getAs<clang::CFGStmt>();
    return !last || !llvm::isa<clang::CXXThrowExpr>(last->getStmt());
  }

  void transfer(const clang::CFGBlock& block, DeviceState& state) {
    // Has a name because the evaluator only refers to it.
    const auto keep_here = [&](const Meeting& meeting) { keep(meeting, state, block); };
    Evaluator evaluator(unit_, state, keep_here);
    for (const clang::CFGElement& element : block) {
      if (const auto init = element.getAs<clang::CFGInitializer>()) {
        const clang::CXXCtorInitializer* initializer = init->getInitializer();
        const Placement placement = evaluator.evaluate(initializer->getInit());
        if (const clang::FieldDecl* member = initializer->getMember()) {
          state.set(unit_.paths().this_object()->member(plain_name(member)), placement);
        }
        continue;
      }
      const auto statement = element.getAs<clang::CFGStmt>();
      if (!statement || !stand_alone_.contains(statement->getStmt())) continue;
      if (const auto* result = llvm::dyn_cast<clang::ReturnStmt>(statement->getStmt())) {
        if (const clang::Expr* value = result->getRetValue()) {
          state.set(unit_.paths().result(), evaluator.evaluate(value));
        }
        continue;
      }
      evaluator.statement(statement->getStmt());
    }
  }

  // What conflicts before a loop's states have met conflicts the first time round.
  void keep(const Meeting& meeting, const DeviceState& state, const clang::CFGBlock& block) {
    const auto place = std::tuple(meeting.op, meeting.first.expression, meeting.second.expression,
                                  meeting.first.inner, meeting.second.inner);
    const bool certain =
        meeting.conflict == Conflict::kCpuAndCuda || meeting.conflict == Conflict::kTwoCudas;
    const bool reported =
        certain || (meeting.conflict == Conflict::kPossible && !of_capture(meeting));
    if (reported && seen_.insert(meeting.op).second) meetings_.push_back(meeting);
    // In a module's own code it is reported there.
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function_);
    const bool told = meeting.conflict == Conflict::kPossible && reported && method != nullptr &&
                      is_module_class(method->getParent());
    if (certain || told) {
      candidates_.erase(place);
      return;
    }
    if (auto asked = summariser_.asked(meeting, state)) {
      candidates_.insert_or_assign(place, Candidate{&block, std::move(*asked)});
    } else {
      candidates_.erase(place);
    }
  }

  // Where a lambda's captures are is known where it is made.
  bool of_capture(const Meeting& meeting) const {
    return llvm::any_of(llvm::ArrayRef{&meeting.first, &meeting.second}, [&](const Operand* one) {
      const DeviceValue* device = one->placement.single();
      if (device == nullptr || !device->is_symbol()) return false;
      const clang::ValueDecl* variable = device->symbol->root()->variable();
      return variable != nullptr && variable->getDeclContext() != &function_;
    });
  }

  FunctionSummary summary() {
    FunctionSummary summary;
    if (const auto& end = entries_[graph_->getExit().getBlockID()]) {
      summariser_.finish(*end, summary);
    }
    for (auto& [place, candidate] : candidates_) {
      if (summary.requirements.size() == kMostRequirements) break;
      if (!always_reached(*candidate.block, candidate.asked.when)) continue;
      summary.requirements.push_back(std::move(candidate.asked.requirement));
    }
    llvm::sort(summary.requirements, [](const Requirement& a, const Requirement& b) {
      const SourceRange& x = a.steps.front().place;
      const SourceRange& y = b.steps.front().place;
      return std::tie(x.file, x.line, x.column, a.first.name, a.second.name) <
             std::tie(y.file, y.line, y.column, b.first.name, b.second.name);
    });
    return summary;
  }

  // No way leads from the beginning to a return around `target`, when the symbols are as `when`
  // says.
  bool always_reached(const clang::CFGBlock& target,
                      const std::map<const Path*, bool>& when) const {
    std::vector<const clang::CFGBlock*> work{&graph_->getEntry()};
    llvm::DenseSet<const clang::CFGBlock*> visited;
    while (!work.empty()) {
      const clang::CFGBlock* block = work.back();
      work.pop_back();
      if (block == &target || !visited.insert(block).second || !goes_on(*block)) continue;
      if (block == &graph_->getExit()) return false;
      unsigned index = 0;
      for (const clang::CFGBlock* next : block->succs()) {
        const bool condition = index++ == 0;
        if (next == nullptr) continue;
        const auto learned = learned_.find({block->getBlockID(), condition});
        if (learned != learned_.end() && learned->second.symbol != nullptr) {
          const auto known = when.find(learned->second.symbol);
          if (known != when.end() && known->second != learned->second.cuda) continue;
        }
        work.push_back(next);
      }
    }
    return true;
  }

  const clang::FunctionDecl& function_;
  UnitAnalysis& unit_;
  StandAlone stand_alone_;
  Summariser summariser_;
  std::unique_ptr<clang::CFG> graph_;
  std::vector<std::optional<DeviceState>> entries_;
  std::map<std::pair<unsigned, bool>, Refinement> learned_;  // by block and its branch
  llvm::DenseSet<const clang::Expr*> seen_;
  std::vector<Meeting> meetings_;
  std::map<std::tuple<const clang::Expr*, const clang::Expr*, const clang::Expr*, std::string,
                      std::string>,
           Candidate>
      candidates_;
};

}  // namespace

FunctionFlow follow_devices(const clang::FunctionDecl& function, UnitAnalysis& unit) {
  ConcernsDevices concerns(unit);
  concerns.TraverseDecl(const_cast<clang::FunctionDecl*>(&function));
  return concerns.found ? Flow(function, unit).run() : FunctionFlow{};
}

}  // namespace devsan::lint
