// Building chains of origins.
#include "core/origin.h"

namespace devsan::trace {

Cause cause_of_device(const OriginRef& from, bool only_input) {
  Cause cause{from, only_input ? Origin::Link::kSame : Origin::Link::kBeside};
  while (cause.origin && cause.origin->kind == Origin::Kind::kCreated && cause.origin->previous) {
    if (cause.origin->link == Origin::Link::kBeside) cause.link = Origin::Link::kBeside;
    cause.origin = cause.origin->previous;
  }
  if (!cause.origin) cause.link = Origin::Link::kNone;
  return cause;
}

void link(Origin& origin, OriginRef previous, Origin::Link how) {
  if (!previous || previous->hops + 1 > kMaxHops) return;
  origin.hops = static_cast<std::uint8_t>(previous->hops + 1);
  origin.link = how;
  origin.previous = std::move(previous);
}

}  // namespace devsan::trace
