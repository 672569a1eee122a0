// Devices: count, choice, properties, peer access.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "simulator/core/not_emulated.h"
#include "simulator/core/torch_part.h"
#include "simulator/cuda_runtime/api.h"

using devsan::sim::answer;
using devsan::sim::GpuModel;
using devsan::sim::machine;
using devsan::sim::Status;

namespace {

// The CUDA release of the headers this was compiled with; the driver is as new.
constexpr int kVersion = CUDART_VERSION;

int pci_bus(int device) {
  return devsan::sim::kFirstPciBus + machine().physical(device);
}

template <typename T, std::size_t N>
void set_all(T (&array)[N], std::initializer_list<T> values) {
  std::copy(values.begin(), values.end(), array);
}

}  // namespace

DEVSAN_CUDA_API cudaError_t cudaGetDeviceCount(int* count) {
  // Every program asks this first, after static initialisation: the moment at which PyTorch's
  // kernel table can be changed and no CUDA op has run.
  devsan::sim::open_torch_part();
  *count = machine().device_count();
  return *count == 0 ? answer(Status::kNoDevice) : cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaSetDevice(int device) {
  return answer(devsan::sim::set_current_device(device));
}

DEVSAN_CUDA_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return answer(machine().has_device(device) ? Status::kSuccess : Status::kInvalidDevice);
}

DEVSAN_CUDA_API cudaError_t cudaGetDevice(int* device) {
  if (machine().device_count() == 0) return answer(Status::kNoDevice);
  *device = devsan::sim::current_device();
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!machine().has_device(device)) return answer(Status::kInvalidDevice);
  const GpuModel& gpu = machine().config().gpu;
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof p.name, "%.*s (simulated)", static_cast<int>(gpu.name.size()),
                gpu.name.data());
  const auto uuid = devsan::sim::device_uuid(machine().physical(device));
  std::copy(uuid.begin(), uuid.end(), p.uuid.bytes);
  p.totalGlobalMem = gpu.memory;
  p.major = gpu.major;
  p.minor = gpu.minor;
  p.multiProcessorCount = gpu.multiprocessors;
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  set_all(p.maxThreadsDim, {1024, 1024, 64});
  set_all(p.maxGridSize, {2147483647, 65535, 65535});
  p.maxThreadsPerMultiProcessor = gpu.threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = gpu.blocks_per_multiprocessor;
  p.regsPerBlock = 65536;
  p.regsPerMultiprocessor = 65536;
  p.sharedMemPerBlock = std::size_t{48} << 10;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(gpu.shared_per_block_optin);
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(gpu.shared_per_multiprocessor);
  p.reservedSharedMemPerBlock = std::size_t{1} << 10;
  p.totalConstMem = std::size_t{64} << 10;
  p.memPitch = 2147483647;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.memoryBusWidth = gpu.memory_bus_bits;
  p.l2CacheSize = gpu.l2_bytes;
  p.unifiedAddressing = 1;
  p.managedMemory = 1;
  p.concurrentKernels = 1;
  p.concurrentManagedAccess = 1;
  p.canMapHostMemory = 1;
  p.cooperativeLaunch = 1;
  p.asyncEngineCount = 3;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.memoryPoolsSupported = 1;
  p.ECCEnabled = 1;
  p.pciBusID = pci_bus(device);
  *properties = p;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                                   int device) {
  cudaDeviceProp p;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device); error != cudaSuccess)
    return error;
  const GpuModel& gpu = machine().config().gpu;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimX:
      *value = p.maxThreadsDim[0];
      break;
    case cudaDevAttrMaxBlockDimY:
      *value = p.maxThreadsDim[1];
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = p.maxThreadsDim[2];
      break;
    case cudaDevAttrMaxGridDimX:
      *value = p.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
      *value = p.maxGridSize[1];
      break;
    case cudaDevAttrMaxGridDimZ:
      *value = p.maxGridSize[2];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(p.sharedMemPerBlock);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = gpu.shared_per_block_optin;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = gpu.shared_per_multiprocessor;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(p.reservedSharedMemPerBlock);
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = static_cast<int>(p.totalConstMem);
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = p.regsPerBlock;
      break;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = p.regsPerMultiprocessor;
      break;
    case cudaDevAttrClockRate:
      *value = gpu.clock_khz;
      break;
    case cudaDevAttrMemoryClockRate:
      *value = gpu.memory_clock_khz;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = gpu.memory_bus_bits;
      break;
    case cudaDevAttrL2CacheSize:
      *value = gpu.l2_bytes;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = gpu.multiprocessors;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = gpu.threads_per_multiprocessor;
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = gpu.blocks_per_multiprocessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = gpu.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = gpu.minor;
      break;
    case cudaDevAttrAsyncEngineCount:
      *value = p.asyncEngineCount;
      break;
    case cudaDevAttrTextureAlignment:
      *value = static_cast<int>(p.textureAlignment);
      break;
    case cudaDevAttrPciBusId:
      *value = p.pciBusID;
      break;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrEccEnabled:
      *value = 1;
      break;
    default:
      *value = 0;  // every other attribute is a feature that is not there
  }
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!machine().has_device(device)) return answer(Status::kInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(length), "00000000:%02X:00.0",
                static_cast<unsigned>(pci_bus(device)));
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  for (int candidate = 0; candidate < machine().device_count(); ++candidate) {
    char own[32];
    cudaDeviceGetPCIBusId(own, sizeof own, candidate);
    if (std::strstr(own, text) == nullptr) continue;
    *device = candidate;
    return cudaSuccess;
  }
  return answer(Status::kInvalidValue);
}

DEVSAN_CUDA_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!machine().has_device(device) || !machine().has_device(peer))
    return answer(Status::kInvalidDevice);
  *can = device != peer ? 1 : 0;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return answer(machine().enable_peer_access(devsan::sim::current_device(), peer));
}

DEVSAN_CUDA_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return answer(machine().disable_peer_access(devsan::sim::current_device(), peer));
}

DEVSAN_CUDA_API cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}

// Nothing is cached, limited or scheduled here; what is set would have no effect that a program can
// see.
DEVSAN_CUDA_API cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) {
  return cudaSuccess;
}
DEVSAN_CUDA_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}
DEVSAN_CUDA_API cudaError_t cudaSetDeviceFlags(unsigned) {
  return cudaSuccess;
}
DEVSAN_CUDA_API cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}
DEVSAN_CUDA_API cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}
