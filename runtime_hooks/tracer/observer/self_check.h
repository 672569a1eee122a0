// Checks after registration that ops are seen as they are.
#pragma once

#include <string>

namespace devsan::trace {

// Runs one small CPU op under a callback of its own. Empty when name, inputs and outputs arrived as
// they are; else one line that says what did not.
std::string self_check();

}  // namespace devsan::trace
