// The policy: which of the two stayed behind, and where it should have been moved.
#include "unmoved_tensor.h"

#include "../placement/expressions.h"
#include "meeting_text.h"

namespace devsan::lint {
namespace {

bool is_on_cpu(const Operand& operand) {
  return llvm::all_of(operand.placement.devices,
                      [](const DeviceValue& device) { return device.is_cpu(); });
}

}  // namespace

std::optional<Diagnostic> unmoved_tensor(const Meeting& meeting, const clang::ASTContext& context) {
  const bool first = is_on_cpu(meeting.first);
  if (!first && !is_on_cpu(meeting.second)) return std::nullopt;
  const Operand& behind = first ? meeting.first : meeting.second;
  const Operand& other = first ? meeting.second : meeting.first;
  Diagnostic diagnostic;
  diagnostic.rule = kUnmovedTensor;
  diagnostic.tokens = behind.expression->getSourceRange();
  diagnostic.message = name_of(behind, context) + " is on the CPU where it meets " +
                       name_of(other, context) + ", which is on " + place_of(other, context) +
                       ", in " + op_of(meeting);
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
