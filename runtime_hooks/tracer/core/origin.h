// How a tensor came to be on its device: a chain of origins, newest first.
//
// As memory sanitizers do for bytes, an origin is kept for each storage: a storage gets its device
// when it is made and never changes it, views share it. Chains are shared and immutable.
#pragma once

#include <cstdint>
#include <memory>

#include "core/device.h"
#include "core/stacks.h"

namespace devsan::trace {

// Where an op was called. Either number may be kNoStack.
struct Site {
  StackId python = kNoStack;
  StackId native = kNoStack;

  bool known() const { return python != kNoStack || native != kNoStack; }
  bool operator==(const Site&) const = default;
};

struct Origin {
  enum class Kind : std::uint8_t {
    kCreated,    // by an op
    kMoved,      // a copy of `previous` on another device
    kFirstSeen,  // made outside the dispatcher or before tracing: known from its first use
    kFilled,     // contents copied in, from `previous`, by copy_
  };

  // What the device of `previous` has to do with this one's.
  enum class Link : std::uint8_t {
    kNone,
    kSame,    // this is `previous`'s data: moved, cast, or computed from nothing else
    kBeside,  // `previous` is one of several inputs that were on this device
    // In reports only: it was moved to where another tensor was, and the next step moved that one.
    kFollowed,
  };

  Kind kind = Kind::kCreated;
  Link link = Link::kNone;
  Device device;
  std::uint8_t hops = 0;  // length of the chain behind
  bool backward = false;  // made in a backward pass; `site` is then the forward op's
  const char* op = "";    // interned: the op the user called
  Site site;
  std::uint64_t sequence = 0;  // of the op, over all threads
  std::shared_ptr<const Origin> previous;
};

using OriginRef = std::shared_ptr<const Origin>;

// Chains are cut here: a tensor that goes to and fro every step must not keep its whole life.
constexpr std::uint8_t kMaxHops = 8;

// What a new origin should point to when its device came from a tensor with origin `from`. Results
// that were themselves only computed are skipped, so a chain holds what decides a device and no
// more; `link` tells whether all that was skipped was computed from one tensor alone.
struct Cause {
  OriginRef origin;
  Origin::Link link = Origin::Link::kNone;
};
Cause cause_of_device(const OriginRef& from, bool only_input);

// Sets `origin.previous` unless the chain is at its limit.
void link(Origin& origin, OriginRef previous, Origin::Link how);

}  // namespace devsan::trace
