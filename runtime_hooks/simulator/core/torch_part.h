// Opens the part of the simulator that speaks to PyTorch.
#pragma once

namespace devsan::sim {

// Once a process that has PyTorch's CUDA library loaded: checks which PyTorch it is, opens the
// kernel redirect made for it and starts it. Another PyTorch, or a redirect that does not open,
// ends the process with one line and exit code 2: running on would compute garbage. Does nothing in
// other processes.
void open_torch_part();

}  // namespace devsan::sim
