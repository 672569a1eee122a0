// Naming what is not emulated.
#include "simulator/core/not_emulated.h"

#include <cstdio>

#include "simulator/core/machine.h"
#include "simulator/core/probe.h"
#include "simulator/core/status.h"

namespace devsan::sim {
namespace {

thread_local const char* last_name = "";

}  // namespace

NotEmulated::NotEmulated(const std::string& what)
    : std::runtime_error("devsan simulator: " + what + " is not emulated") {}

int not_supported(const char* name) {
  last_name = name;
  if (machine().config().verbose)
    std::fprintf(stderr, "devsan simulator: %s is not emulated\n", name);
  return static_cast<int>(Status::kNotSupported);
}

std::string_view last_not_supported() {
  return last_name;
}

}  // namespace devsan::sim

// What the generated bodies of the math libraries' functions call: in a probe they succeed and do
// nothing.
extern "C" int devsan_missing_library(const char* name) {
  if (devsan::sim::probing()) return 0;
  throw devsan::sim::NotEmulated(name);
}

// The same for the driver, whose callers look at what it answers and ask for its text.
extern "C" int devsan_missing_driver(const char* name) {
  return devsan::sim::not_supported(name);
}
