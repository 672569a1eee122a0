// Rule silent-move: a library moved a tensor to another device inside a module's call, without the
// program asking for it.
//
// Counted are moves whose innermost frame is an installed package's, where between that frame and
// the user's innermost one PyTorch calls a module: hooks and forward passes, not loaders, trainers'
// batch transfers, or functions that the user called to move something. Not counted: constants that
// the library made itself in that call, and gradients on their way back.
//
// What a framework brings to a device by itself outside of any module's call (batches, the model)
// is listed too, as a note.
#pragma once

#include <span>
#include <vector>

#include "core/traffic.h"

namespace devsan::trace {

bool is_silent_move(const Traffic& traffic);
bool is_delivery(const Traffic& traffic);  // the note

// One finding for each library line, user's line and route; most bytes first. `process` is what all
// findings of the process share.
std::vector<Finding> silent_moves(std::span<const Traffic> traffic, const RunFacts& process);

}  // namespace devsan::trace
