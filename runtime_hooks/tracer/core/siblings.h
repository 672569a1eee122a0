// Where the other fields of a batch were moved: the place at which a forgotten one belongs.
#pragma once

#include <span>

#include "core/scene.h"

namespace devsan::trace {

// The earliest move to `to` of a tensor that was made by the same call of the same function of the
// user's as the one made at `made`, and moved by the user's code outside that call; null where
// there is none.
const RunMove* move_of_siblings(const Stack& made, Device to, std::span<const RunMove> moves);

}  // namespace devsan::trace
