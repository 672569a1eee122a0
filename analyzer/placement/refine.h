// What a branch tells of devices: `if (x.is_cuda())`, `device.type() == torch::kCPU`,
// `TORCH_CHECK(...)`.
#pragma once

#include "clang/Analysis/CFG.h"
#include "device_state.h"

namespace devsan::lint {

// Narrows `state`, at the end of `block`, to what holds when the branch is taken whose condition is
// true, or false. False: the branch cannot be taken.
bool refine(DeviceState& state, const clang::CFGBlock& block, bool condition);

}  // namespace devsan::lint
