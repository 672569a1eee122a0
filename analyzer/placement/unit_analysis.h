// Follows the functions of one translation unit, callees before callers, and keeps what is found.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "evaluate.h"
#include "llvm/ADT/DenseMap.h"
#include "member_facts.h"
#include "path.h"
#include "summary.h"

namespace devsan::lint {

enum class FlowOutcome {
  kDone,
  kNothingToFollow,  // nothing in the function has to do with devices
  kOverLimit,        // too large, or too slow to settle: not analysed
};

struct FunctionFlow {
  FlowOutcome outcome = FlowOutcome::kNothingToFollow;
  // Of values whose devices conflict, each op once, in the order in which control reaches them.
  std::vector<Meeting> meetings;
  std::optional<FunctionSummary> summary;  // when it was followed to its end
};

class UnitAnalysis {
 public:
  // `others` are summaries of what is defined in other translation units.
  explicit UnitAnalysis(clang::ASTContext& context, const SummaryTable* others = nullptr)
      : context_(context), others_(others) {}

  clang::ASTContext& context() const { return context_; }
  Paths& paths() { return paths_; }

  // `function` has a body here and is no template. Each is followed once.
  const FunctionFlow& follow(const clang::FunctionDecl& function);

  // Null when nothing is known of what a call of it does: it was not seen, it is being followed
  // (recursion), or what is called is decided at run time.
  const FunctionSummary* summary_of(const clang::FunctionDecl& callee);

  // False when a member of a module that was moved as a whole may have stayed where it was: only
  // what is registered goes along.
  bool is_moved_with(const clang::FieldDecl& field, const Placement& whole);
  bool is_moved_with(const clang::CXXRecordDecl& record, llvm::StringRef member,
                     const Placement& whole);

  // Values of this type can be on a device, name one, or hold what does.
  bool concerns_devices(clang::QualType type);
  // Its objects can.
  bool concerns_devices(const clang::CXXRecordDecl& record);
  // What it is given or gives can.
  bool concerns_devices(const clang::FunctionDecl& function);

  // Of the functions that were followed and whose bodies are here alone, and of the modules whose
  // methods they are. That nothing is known of one is told too: another unit may have a function
  // of the same name.
  SummaryTable summaries();
  // What was asked for in vain: functions without a body here, modules that were not wholly seen.
  // By their names in a SummaryTable, whether `others` had them or not.
  const std::set<std::string>& asked() const { return asked_; }

  // Counts how deep expressions and calls are nested, so that none exhausts the stack.
  class Nested {
   public:
    explicit Nested(UnitAnalysis& unit) : unit_(unit) { ++unit_.depth_; }
    ~Nested() { --unit_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    // The function that is being followed is then given up.
    bool too_deep() const;

   private:
    UnitAnalysis& unit_;
  };
  bool was_too_deep() const { return too_deep_; }

 private:
  const ModuleFacts& facts_of(const clang::CXXRecordDecl& module);
  void add_module(const clang::CXXRecordDecl& record, SummaryTable& table);

  clang::ASTContext& context_;
  const SummaryTable* others_;
  Paths paths_;
  std::map<const clang::FunctionDecl*, std::unique_ptr<FunctionFlow>> flows_;  // null: running
  std::vector<const clang::FunctionDecl*> order_;
  std::set<std::string> asked_;
  llvm::DenseMap<const clang::CXXRecordDecl*, std::unique_ptr<ModuleFacts>> modules_;
  llvm::DenseMap<const clang::CXXRecordDecl*, bool> concerned_;
  unsigned depth_ = 0;
  bool too_deep_ = false;
};

}  // namespace devsan::lint
