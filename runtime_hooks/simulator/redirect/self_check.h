// After registration: does the redirect do what it is there for in this process?
#pragma once

namespace devsan::sim {

// At the first redirected op of the process: one addition on each device, over memory taken from
// the simulated driver so that PyTorch's statistics stay as the program made them. A wrong value or
// device ends the process with one line and exit code 2.
void check_once_at_first_op();

}  // namespace devsan::sim
