// Two tensors are siblings when the stacks that made them agree up to the call of the function that
// made both.
#include "core/siblings.h"

namespace devsan::trace {

const RunMove* move_of_siblings(const Stack& made, Device to, std::span<const RunMove> moves) {
  const std::span<const OwnedFrame> call = innermost_user_call(made);
  const RunMove* first = nullptr;
  for (const RunMove& move : moves) {
    if (move.to != to || !innermost_user_frame(move.moved)) continue;
    std::span<const OwnedFrame> inside;
    if (!runs_through(move.made, call, &inside) || has_constructor(inside)) continue;
    if (!first || move.sequence < first->sequence) first = &move;
  }
  return first;
}

}  // namespace devsan::trace
