// The policy: which of the two stayed behind, and where it should have been moved.
#include "unmoved_tensor.h"

#include "../placement/expressions.h"
#include "../placement/module_types.h"
#include "meeting_text.h"

namespace devsan::lint {
namespace {

bool is_on_cpu(const Operand& operand) {
  return llvm::all_of(operand.placement.devices,
                      [](const DeviceValue& device) { return device.is_cpu(); });
}

// A loss or an activation: its `to` would move nothing.
bool has_nothing_to_move(const Operand& operand) {
  const clang::CXXRecordDecl* module =
      operand.module ? module_of(operand.expression->getType()) : nullptr;
  return module != nullptr && !may_have_state(*module);
}

}  // namespace

std::optional<Diagnostic> unmoved_tensor(const Meeting& meeting, const clang::ASTContext& context) {
  const bool first = is_on_cpu(meeting.first);
  if (!first && !is_on_cpu(meeting.second)) return std::nullopt;
  const Operand& behind = first ? meeting.first : meeting.second;
  const Operand& other = first ? meeting.second : meeting.first;
  if (has_nothing_to_move(behind)) return std::nullopt;
  Diagnostic diagnostic;
  diagnostic.rule = kUnmovedTensor;
  diagnostic.tokens = behind.expression->getSourceRange();
  diagnostic.message = name_of(behind, context) + " is on the CPU where it meets " +
                       name_of(other, context) + ", which is on " + place_of(other, context) +
                       ", in " + op_of(meeting);
  add_way(meeting, context, diagnostic);
  add_origin(behind, context, diagnostic);
  add_origin(other, context, diagnostic);
  if (behind.module) {
    diagnostic.advice = "move the module first";
  } else {
    add_move(behind, other, context, diagnostic);
  }
  return diagnostic;
}

}  // namespace devsan::lint
