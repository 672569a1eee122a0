// One counter a thread: probes nest when a probed kernel calls ops with mixed devices itself.
#include "simulator/core/probe.h"

namespace devsan::sim {
namespace {

thread_local int depth = 0;

}  // namespace

bool probing() {
  return depth > 0;
}

ProbeScope::ProbeScope() {
  ++depth;
}

ProbeScope::~ProbeScope() {
  --depth;
}

}  // namespace devsan::sim
