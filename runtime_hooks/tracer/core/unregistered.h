// A module's member that was made in the module's constructor and is used by its methods, but was
// never registered: moving the module leaves it behind.
#pragma once

#include <optional>
#include <string>

#include "core/scene.h"

namespace devsan::trace {

struct Unregistered {
  const OwnedFrame* made = nullptr;  // the line of the constructor
  std::string type;                  // "ns::AttentionImpl" or "Attention"
  std::string member;                // as the line assigns it, "scale_"; may be empty
};

// Nothing for parameters and buffers, for what was moved since, and where no method of the same
// class is on the stack of the use.
std::optional<Unregistered> unregistered_member(const Scene& scene, const Suspect& suspect);

}  // namespace devsan::trace
