// The names of ops, kept once each, and what the tracer has to know about a few of them.
#pragma once

#include "observer/compat.h"

namespace devsan::trace {

struct OpName {
  enum class Kind : std::uint8_t {
    kOp,
    kRecast,  // gives its first argument's data, maybe elsewhere or as another type: to, clone, ...
    kCopyInto,    // copy_: writes the second argument's data into the first
    kSetStorage,  // set_: adopts a storage that came from elsewhere
    kCollective,  // c10d::...
    kRange,       // not an op: autograd Functions, the engine's and the profiler's ranges
  };
  const char* text = "";
  Kind kind = Kind::kOp;
};

// Of a running record; the result lives for ever. Costs a comparison of strings in the common case:
// records of the autograd engine have temporary names, so an address alone says nothing.
const OpName& op_name(const at::RecordFunction& record);

}  // namespace devsan::trace
