// Memory: allocation, attributes of pointers, copies. A copy is done before the call returns; in a
// probe it is not done, and host memory that should receive device data is zeroed so that nothing
// undefined is read from it.
#include <cstdint>
#include <cstring>

#include "simulator/core/not_emulated.h"
#include "simulator/core/probe.h"
#include "simulator/cuda_runtime/api.h"

using devsan::sim::answer;
using devsan::sim::Block;
using devsan::sim::current_device;
using devsan::sim::machine;
using devsan::sim::MemoryKind;
using devsan::sim::probing;
using devsan::sim::Status;

namespace {

bool on_device(const void* pointer) {
  const auto block = machine().memory().find(pointer);
  return block && block->on_device();
}

cudaError_t copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return answer(Status::kInvalidValue);
  if (!probing()) {
    std::memmove(to, from, bytes);
  } else if (!on_device(to)) {
    std::memset(to, 0, bytes);
  }
  return cudaSuccess;
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height) {
  if (width > to_pitch || width > from_pitch) return answer(Status::kInvalidValue);
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t error = copy(static_cast<char*>(to) + row * to_pitch,
                                   static_cast<const char*>(from) + row * from_pitch, width);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t fill(void* to, int value, std::size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!on_device(to)) return answer(Status::kInvalidValue);
  if (!probing()) std::memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t copy_symbol(const void* symbol, std::size_t offset, std::size_t bytes, void* other,
                        bool to_symbol) {
  const auto size = machine().kernels().variable_bytes(symbol);
  if (!size || offset > *size || bytes > *size - offset) return answer(Status::kInvalidValue);
  char* variable = static_cast<char*>(machine().kernels().variable(symbol)) + offset;
  return to_symbol ? copy(variable, other, bytes) : copy(other, variable, bytes);
}

}  // namespace

DEVSAN_CUDA_API cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  if (machine().device_count() == 0) return answer(Status::kNoDevice);
  return answer(machine().memory().allocate(current_device(), bytes, pointer));
}

DEVSAN_CUDA_API cudaError_t cudaFree(void* pointer) {
  return answer(machine().memory().release(pointer));
}

DEVSAN_CUDA_API cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  const auto on = machine().streams().find(stream, current_device());
  if (!on) return answer(Status::kInvalidResourceHandle);
  return answer(machine().memory().allocate(on->device, bytes, pointer));
}

DEVSAN_CUDA_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  return cudaFree(pointer);
}

DEVSAN_CUDA_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  if (machine().device_count() == 0) return answer(Status::kNoDevice);
  const devsan::sim::MemoryUse use = machine().memory().use(current_device());
  *free = use.free();
  *total = use.capacity;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return answer(machine().memory().allocate_pinned(current_device(), bytes, pointer));
}

DEVSAN_CUDA_API cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

DEVSAN_CUDA_API cudaError_t cudaFreeHost(void* pointer) {
  return answer(machine().memory().release_pinned(pointer));
}

DEVSAN_CUDA_API cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  return answer(machine().memory().register_host(current_device(), pointer, bytes));
}

DEVSAN_CUDA_API cudaError_t cudaHostUnregister(void* pointer) {
  return answer(machine().memory().unregister_host(pointer));
}

DEVSAN_CUDA_API cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer,
                                                     unsigned) {
  const auto block = machine().memory().find(host_pointer);
  if (!block || block->on_device()) return answer(Status::kInvalidValue);
  *device_pointer = host_pointer;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                     const void* pointer) {
  cudaPointerAttributes a{};
  a.device = cudaInvalidDeviceId;
  if (const auto block = machine().memory().find(pointer)) {
    a.device = block->device;
    a.devicePointer = const_cast<void*>(pointer);
    a.type = block->on_device() ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    if (!block->on_device()) a.hostPointer = const_cast<void*>(pointer);
  } else {
    a.type = cudaMemoryTypeUnregistered;
    a.hostPointer = const_cast<void*>(pointer);
  }
  *attributes = a;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return copy(to, from, bytes);
}

DEVSAN_CUDA_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                            cudaMemcpyKind, cudaStream_t stream) {
  if (!machine().streams().find(stream, current_device()))
    return answer(Status::kInvalidResourceHandle);
  return copy(to, from, bytes);
}

DEVSAN_CUDA_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from,
                                           int from_device, size_t bytes) {
  if (!machine().has_device(to_device) || !machine().has_device(from_device)) {
    return answer(Status::kInvalidDevice);
  }
  return copy(to, from, bytes);
}

DEVSAN_CUDA_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                                int from_device, size_t bytes, cudaStream_t) {
  return cudaMemcpyPeer(to, to_device, from, from_device, bytes);
}

DEVSAN_CUDA_API cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from,
                                         size_t from_pitch, size_t width, size_t height,
                                         cudaMemcpyKind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height);
}

DEVSAN_CUDA_API cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                              size_t from_pitch, size_t width, size_t height,
                                              cudaMemcpyKind, cudaStream_t) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height);
}

DEVSAN_CUDA_API cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return fill(to, value, bytes);
}

DEVSAN_CUDA_API cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  return fill(to, value, bytes);
}

DEVSAN_CUDA_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes,
                                               size_t offset, cudaMemcpyKind) {
  return copy_symbol(symbol, offset, bytes, const_cast<void*>(from), true);
}

DEVSAN_CUDA_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                                    size_t bytes, size_t offset, cudaMemcpyKind,
                                                    cudaStream_t) {
  return copy_symbol(symbol, offset, bytes, const_cast<void*>(from), true);
}

DEVSAN_CUDA_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes,
                                                 size_t offset, cudaMemcpyKind) {
  return copy_symbol(symbol, offset, bytes, to, false);
}

DEVSAN_CUDA_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  *pointer = machine().kernels().variable(symbol);
  return answer(*pointer != nullptr ? Status::kSuccess : Status::kInvalidValue);
}

DEVSAN_CUDA_API cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  const auto size = machine().kernels().variable_bytes(symbol);
  if (!size) return answer(Status::kInvalidValue);
  *bytes = *size;
  return cudaSuccess;
}

// PyTorch's cudaMallocAsync backend: one pool a device, that never holds on to memory.
DEVSAN_CUDA_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!machine().has_device(device)) return answer(Status::kInvalidDevice);
  static char pools[devsan::sim::kMaxDevices];
  *pool = reinterpret_cast<cudaMemPool_t>(&pools[device]);
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) {
  return cudaSuccess;
}
