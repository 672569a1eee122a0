// Driver functions asked for by name through the runtime: those of the driver stand-in.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>

#include "simulator/cuda_runtime/api.h"

DEVSAN_CUDA_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char* name, void** function, unsigned version, unsigned long long flags,
    cudaDriverEntryPointQueryResult* result) {
  using GetProcAddress = decltype(&cuGetProcAddress_v2);
  static const auto lookup = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY);  // preloaded: its soname is taken
    return reinterpret_cast<GetProcAddress>(driver != nullptr ? dlsym(driver, "cuGetProcAddress_v2")
                                                              : nullptr);
  }();
  *function = nullptr;
  const bool found = lookup != nullptr && lookup(name, function, static_cast<int>(version), flags,
                                                 nullptr) == CUDA_SUCCESS;
  if (result != nullptr)
    *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return found ? cudaSuccess : devsan::sim::answer(devsan::sim::Status::kNotSupported);
}
