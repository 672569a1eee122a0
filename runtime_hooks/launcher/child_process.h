// Runs a command to its end, as a shell would: same terminal, signals passed on, its own exit code.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace devsan {

// Starts `command` (found in PATH) with `environment` set on top of ours and waits for it. Returns
// its exit code, 128 + N when signal N ended it, 127 when there is no such command and 126 when it
// cannot be executed (as POSIX shells do, with one line on stderr). Throws std::system_error when
// no process can be made. Call it once, before other threads are started.
int run_child(const std::vector<std::string>& command,
              const std::map<std::string, std::string>& environment);

}  // namespace devsan
