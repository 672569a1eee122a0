// What was counted at one place of the program over the run: tensors that were made on a device or
// moved to it. Plain data, so that rules can be tested on what tests make by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/scene.h"

namespace devsan::trace {

struct Traffic {
  Origin::Kind kind = Origin::Kind::kMoved;
  Device from;  // of moves and copies
  Device to;
  std::string op;
  Stack stack;
  std::vector<Step> source;  // the history of the first tensor that was moved, newest first
  std::string dtype;         // of the first tensor
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;  // tensors
  std::int64_t bytes = 0;
  std::int64_t steps = 0;  // optimizer steps in which it happened
  // When it happened first: optimizer steps and collectives before it, number of the op, clock.
  std::int64_t first_step = 0;
  std::int64_t first_collectives = 0;
  std::int64_t first_sequence = 0;
  std::int64_t first_time_us = 0;
};

// "24.0 KiB".
std::string size_text(std::int64_t bytes);

// `process` with what `traffic` says of itself: op, counts, order.
RunFacts facts_of(const Traffic& traffic, const RunFacts& process);

}  // namespace devsan::trace
