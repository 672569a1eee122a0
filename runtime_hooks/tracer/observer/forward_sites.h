// Where the forward op of an autograd node was called: by the node's sequence number and thread.
#pragma once

#include <cstdint>

#include "core/origin.h"

namespace devsan::trace {

struct ForwardSite {
  std::int64_t sequence = -1;
  const char* op = nullptr;  // null: not known
  Site site;
};

// Keeps the last 65536 nodes of each thread.
void record_forward_site(std::int64_t sequence, const char* op, const Site& site);

// `thread` is the logical thread id that autograd keeps in a node. A node that an op made without a
// record of its own (a C++ autograd Function) is attributed to the op just before it.
ForwardSite forward_site(std::uint64_t thread, std::int64_t sequence);

}  // namespace devsan::trace
