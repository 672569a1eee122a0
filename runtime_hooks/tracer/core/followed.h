// A tensor that was moved to where another one was: what moved that other one decided for both.
#pragma once

#include <span>
#include <vector>

#include "core/scene.h"

namespace devsan::trace {

// Where the newest step of the path moved the tensor to the device of something else, and a device
// literal of the user's had taken that there: puts the literal's move into the path, behind the
// newest step, whose link becomes kFollowed. That is so where
//  - the moving line names whom it follows (`x.to(y.device())`), and the literal's line assigns to
//  y;
//  - a library moved it, and under the user's call that led there, one literal moved something.
// Leaves the path alone otherwise.
void add_followed_move(std::vector<Step>& path, std::span<const RunMove> moves);

}  // namespace devsan::trace
