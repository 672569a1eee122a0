// What differs between releases of PyTorch in the interfaces that the kernel redirect uses. One
// redirect library is compiled for each minor release.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/version.h>

#if TORCH_VERSION_MAJOR != 2 || TORCH_VERSION_MINOR != 11
#error "The kernel redirect knows PyTorch 2.11 alone."
#endif

namespace devsan::sim::compat {

// The kernel of an operator as the dispatcher would call it, kept after another was registered over
// it.
using SavedKernel = c10::SafeKernelFunction;

inline SavedKernel saved_kernel(const c10::OperatorHandle& op, c10::DispatchKey key) {
  return op.getComputedKernelForDispatchKey(key);
}

// How many kernels a redirect of this release registers, within what plugins may add or a build
// leave out. Far outside it, the dispatcher's tables are not what the redirect was compiled for.
inline constexpr int kFewestKernels = 1200;
inline constexpr int kMostKernels = 1800;

}  // namespace devsan::sim::compat
