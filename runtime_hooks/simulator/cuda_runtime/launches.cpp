// Device code: what the compiler's start-up code registers, and launches. The policy is the core's.
#include <cstring>

#include "simulator/core/kernels.h"
#include "simulator/cuda_runtime/api.h"

using devsan::sim::answer;
using devsan::sim::machine;
using devsan::sim::Status;

namespace {

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};

// Between <<<...>>> and the launch that it configures.
thread_local CallConfiguration pending;

cudaError_t launch(const void* function, dim3 grid, dim3 block, cudaStream_t stream) {
  return answer(
      devsan::sim::launch(function, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, stream));
}

}  // namespace

// Nothing of the binary is used, but a handle must not be null.
DEVSAN_CUDA_API void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}

DEVSAN_CUDA_API void __cudaRegisterFatBinaryEnd(void**) {}
DEVSAN_CUDA_API void __cudaUnregisterFatBinary(void**) {}
DEVSAN_CUDA_API char __cudaInitModule(void**) {
  return 1;
}

DEVSAN_CUDA_API void __cudaRegisterFunction(void**, const char* host_function, char*,
                                            const char* device_name, int, uint3*, uint3*, dim3*,
                                            dim3*, int*) {
  machine().kernels().add(host_function, device_name);
}

DEVSAN_CUDA_API void __cudaRegisterVar(void**, char* host_variable, char*, const char*, int,
                                       size_t bytes, int, int) {
  machine().kernels().add_variable(host_variable, bytes);
}

DEVSAN_CUDA_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                     struct CUstream_st* stream) {
  pending = {grid, block, shared, stream};
  return 0;
}

DEVSAN_CUDA_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                                       void* stream) {
  *grid = pending.grid;
  *block = pending.block;
  *shared = pending.shared;
  *static_cast<cudaStream_t*>(stream) = pending.stream;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void**,
                                               size_t, cudaStream_t stream) {
  return launch(kernel, grid, block, stream);
}

DEVSAN_CUDA_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void**,
                                             size_t, cudaStream_t stream) {
  return launch(function, grid, block, stream);
}

DEVSAN_CUDA_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                        void**, size_t, cudaStream_t stream) {
  return launch(function, grid, block, stream);
}

DEVSAN_CUDA_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                                const void* function, void**) {
  return launch(function, config->gridDim, config->blockDim, config->stream);
}

DEVSAN_CUDA_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  cudaFuncAttributes a{};
  a.maxThreadsPerBlock = 1024;
  a.numRegs = 32;
  a.binaryVersion = machine().config().gpu.major * 10 + machine().config().gpu.minor;
  a.ptxVersion = a.binaryVersion;
  a.maxDynamicSharedSizeBytes = machine().config().gpu.shared_per_block_optin;
  *attributes = a;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
  return cudaSuccess;
}

// PyTorch sizes grids by this; the sizes reach no device.
DEVSAN_CUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                                   const void*, int,
                                                                                   size_t,
                                                                                   unsigned) {
  *blocks = 1;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*,
                                                                          int, size_t) {
  *blocks = 1;
  return cudaSuccess;
}
