// Rule rank-affinity: a rank made tensors on, or moved them to, a GPU that is not its own.
//
// A rank may own several GPUs. One process cannot know which are another rank's: what is found here
// counts only where the device is another rank's own, which the launcher tells when it merges the
// reports of all ranks.
#pragma once

#include <span>
#include <vector>

#include "core/traffic.h"

namespace devsan::trace {

// One finding for each user's line and device; most tensors first.
std::vector<Finding> rank_affinity(std::span<const Traffic> traffic, Device own,
                                   const RunFacts& process);

}  // namespace devsan::trace
