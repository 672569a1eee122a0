// From what is known at the end of a function, and where its operands met, to its summary.
#pragma once

#include <map>
#include <optional>

#include "clang/AST/ASTContext.h"
#include "evaluate.h"
#include "summary.h"

namespace devsan::lint {

class Summariser {
 public:
  Summariser(const clang::FunctionDecl& function, const clang::ASTContext& context, Paths& paths)
      : function_(function), context_(context), paths_(paths) {}

  // The result, and what inputs were changed to, when `end` holds where the function returns.
  void finish(const DeviceState& end, FunctionSummary& summary);

  // What a meeting asks of the function's inputs, and under which conditions on their devices.
  // Nothing when it has nothing to do with them.
  struct Asked {
    Requirement requirement;
    std::map<const Path*, bool> when;  // on CUDA, or on the CPU
  };
  std::optional<Asked> asked(const Meeting& meeting, const DeviceState& state);

 private:
  SummaryPlacement placement(const Placement& placement, const DeviceState& state);
  SummaryDevice device(const DeviceValue& device, const DeviceState& state);
  // Nothing for what is not given to the function.
  std::optional<InputPath> input(const Path* path) const;
  std::vector<SummaryStep> steps(const Placement& placement) const;
  RequiredOperand operand(const Operand& operand, const DeviceState& state);
  void add_effects(const Path* path, const Placement& placement, const DeviceState& end,
                   FunctionSummary& summary);
  bool can_change(const clang::ValueDecl& variable) const;

  const clang::FunctionDecl& function_;
  const clang::ASTContext& context_;
  Paths& paths_;
  std::map<const Path*, int> own_;  // choices that the function makes, numbered
};

}  // namespace devsan::lint
