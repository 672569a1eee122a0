// The policy: a tensor follows the module or the first operand.
#include "mixed_devices.h"

#include "meeting_text.h"

namespace devsan::lint {

std::optional<Diagnostic> mixed_devices(const Meeting& meeting, const clang::ASTContext& context) {
  // A module stays, since moving it would copy its weights; else the second follows the first.
  const bool follows = !meeting.second.module;
  const Operand& moved = follows ? meeting.second : meeting.first;
  const Operand& stays = follows ? meeting.first : meeting.second;
  Diagnostic diagnostic;
  diagnostic.rule = kMixedDevices;
  diagnostic.tokens = moved.expression->getSourceRange();
  diagnostic.message = name_of(moved, context) + " is on " + place_of(moved, context) +
                       " and meets " + name_of(stays, context) + " on " + place_of(stays, context) +
                       ", in " + op_of(meeting);
  add_way(meeting, context, diagnostic);
  add_origin(moved, context, diagnostic);
  add_origin(stays, context, diagnostic);
  add_move(moved, stays, context, diagnostic);
  return diagnostic;
}

}  // namespace devsan::lint
