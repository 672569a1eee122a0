// Which libraries are preloaded into the command, and what they are told.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "devsan/run_options.h"

namespace devsan {

// The variables to set for a command that is to run under the hooks of `libraries` (the lib folder
// of this build). Throws std::runtime_error with one line when a library is not there, or when its
// path cannot stand in LD_PRELOAD.
std::map<std::string, std::string> hook_environment(const std::filesystem::path& libraries,
                                                    const RunOptions& options);

}  // namespace devsan
