// What every file of the CUDA runtime shim needs: CUDA's declarations, and how a Status becomes the
// thread's last error.
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/core/machine.h"

// A function of the CUDA runtime's interface: C linkage, exported.
#define DEVSAN_CUDA_API extern "C" __attribute__((visibility("default")))

namespace devsan::sim {

// The answer to the caller; an error is kept for cudaGetLastError.
cudaError_t answer(Status status);

}  // namespace devsan::sim
