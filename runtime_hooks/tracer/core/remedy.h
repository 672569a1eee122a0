// The line to change, why, and the edit: chosen from the odd one's path.
//
//  what the path shows                                   the line                 the edit
//  a parameter moved in a forward pass                   that move                remove it
//  an adapter away from its base layer                   its last move, or where  move it with its
//  layer
//                                                        it was made
//  a literal, on the data or on what it was made from    the literal              the device in
//  scope the data was moved by the user's code                 that move                the other's
//  device made from nothing in the function that uses it, or    where it was made        make it on
//  the other's in a forward pass that has not ended device anything else: batch fields, labels,
//  results of       where the function that  move it there another shard, moves by a library holds
//  it gives it to
//                                                        the op
//  the odd one is not certain                            the op                   the candidates
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
