// Runs a helper program from inside the traced process.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace devsan::trace {

// What `command` (found by PATH) wrote to stdout; its stderr is dropped. It runs without our
// LD_PRELOAD and options. Empty when it cannot be started or ends with an error.
std::optional<std::string> output_of(const std::vector<std::string>& command);

}  // namespace devsan::trace
