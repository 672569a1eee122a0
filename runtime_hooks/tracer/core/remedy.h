// The line to change, why, and the edit: chosen from the odd one's path. The first that holds, of:
//
//  a parameter that was moved in a forward pass
//      that move: remove it
//  an adapter away from its base layer
//      its last move, or where it was made: move it with its layer
//  made in a module's constructor, used by the module, never registered
//      the line of the constructor: register it
//  a device literal, on the data, on what it was made from, or on what it was moved to
//      the literal: the device in scope
//  moved by the user's code
//      that move: the other's device
//  made from nothing in the function that uses it, or in a forward pass that has not ended
//      where it was made: make it on the other's device
//  made beside tensors that were moved later, as the fields of a batch are
//      where they were moved: move it there too
//  anything else: batch fields, labels, results of another shard, moves by a library
//      where the function that holds it gives it to the op: move it there
//  the odd one is not certain
//      the op, and the candidates
#pragma once

#include <string>
#include <vector>

#include "core/blame.h"
#include "core/scene.h"

namespace devsan::trace {

struct Remedy {
  SourceRange place;
  std::string why;
  std::string advice;
};

Remedy find_remedy(const Scene& scene, const Blame& blame);

// The frame of `use` that has had the tensor in its hands since `made`: the user's outermost frame
// at or inside the innermost one that both stacks run through. The innermost user frame where they
// share none.
const OwnedFrame* holder_of(const Stack& use, const Stack& made);

}  // namespace devsan::trace
