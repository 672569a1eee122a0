// A device mismatch as it was seen: the op, its arguments with their histories, and where the
// model's parameters are. Plain data, so that rules can be tested on scenes made by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/frames.h"
#include "core/origin.h"
#include "devsan/findings/finding.h"

namespace devsan::trace {

// An origin with its stack made readable.
struct Step {
  Origin::Kind kind = Origin::Kind::kCreated;
  Origin::Link link = Origin::Link::kNone;  // to the step after it in the path
  Device device;
  std::string op;
  bool backward = false;
  Stack stack;
};

struct Suspect {
  Argument argument;
  Device device;
  bool scalar = false;                  // 0-dim on the CPU: PyTorch takes it beside any device
  bool requires_grad = false;           // it was computed from parameters, or is one
  bool named_by_pytorch = false;        // PyTorch's check objects to this one
  bool mentioned = false;               // the statement that raised names it
  std::optional<std::string> variable;  // what the calling Python function calls it
  std::vector<Step> path;               // newest first

  bool is_parameter() const { return argument.parameter.has_value(); }
};

// One parameter or buffer of the model.
struct Placement {
  std::string name;
  Device device;
};

// All moves that one place of the program made to one device, by the first of them. What was done
// with other tensors tells what should have been done with the one at hand.
struct RunMove {
  Device to;
  std::uint64_t sequence = 0;  // of the op
  std::string op;
  Stack moved;  // where
  Stack made;   // where what was moved had been made; empty when that is not known
};

struct Scene {
  std::string op;
  bool backward = false;
  std::vector<Suspect> suspects;
  Stack use;
  Stack forward;  // where the op was called whose backward failed
  std::vector<Placement> model;
  std::vector<RunMove> moves;  // of the run so far
  int local_rank = -1;         // -1: not one of several processes
};

// The step that decided the device: the newest that moved the data or made it from nothing. Null
// when nothing is known. `direct` tells whether it is the suspect's own data.
struct Deciding {
  const Step* step = nullptr;
  bool direct = false;
};
Deciding deciding_step(const Suspect& suspect);

// The device literal in the user's line that decided where the suspect is; nothing when there is
// none, or when it says no more than the model's placement does: a literal that took another tensor
// to a device where the model has parameters is how a split model is fed.
std::optional<std::string> deciding_literal(const Scene& scene, const Suspect& suspect);

// Whether the step's op was called by the user's code rather than inside a library: the innermost
// frame that is not PyTorch's is the user's.
bool is_by_user(const Step& step);

}  // namespace devsan::trace
