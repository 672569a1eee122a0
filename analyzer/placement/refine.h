// What a branch tells of devices: `if (x.is_cuda())`, `device.type() == torch::kCPU`,
// `TORCH_CHECK(...)`.
#pragma once

#include "clang/Analysis/CFG.h"
#include "device_state.h"

namespace devsan::lint {

class UnitAnalysis;

struct Refinement {
  bool dead = false;             // the branch cannot be taken
  const Path* symbol = nullptr;  // what was asked for, when it is a symbol,
  bool cuda = false;             // and whether it is on CUDA when the branch is taken
};

// Narrows `state`, at the end of `block`, to what holds when the branch is taken whose condition is
// true, or false.
Refinement refine(DeviceState& state, UnitAnalysis& unit, const clang::CFGBlock& block,
                  bool condition);

}  // namespace devsan::lint
