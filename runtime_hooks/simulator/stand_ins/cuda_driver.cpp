// libcuda.so.1: the part of the driver that PyTorch asks for through
// cudaGetDriverEntryPointByVersion and lazily by dlopen. Devices, contexts by name only, and
// virtual memory. Every other function answers CUDA_ERROR_NOT_SUPPORTED and is named in
// cuGetErrorString.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "simulator/core/machine.h"
#include "simulator/core/not_emulated.h"
#include "simulator/core/probe.h"
#include "simulator/core/virtual_memory.h"

#define DEVSAN_DRIVER_API extern "C" __attribute__((visibility("default")))

// Of the runtime shim, which is preloaded beside this library: attributes have the same numbers
// there.
extern "C" __attribute__((weak)) int cudaDeviceGetAttribute(int* value, int attribute, int device);

using devsan::sim::current_device;
using devsan::sim::machine;
using devsan::sim::Status;

namespace {

CUresult answer(Status status) {
  return static_cast<CUresult>(status);
}

// A context is known by its device alone.
char contexts[devsan::sim::kMaxDevices];

CUcontext context_of(int device) {
  return reinterpret_cast<CUcontext>(&contexts[device]);
}

// Null where `context` is not one of ours.
std::optional<int> device_of(CUcontext context) {
  const auto* mark = reinterpret_cast<const char*>(context);
  if (mark < std::begin(contexts) || mark >= std::end(contexts)) return std::nullopt;
  return static_cast<int>(mark - std::begin(contexts));
}

void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrorTexts[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

// The only codes that this library answers with.
const ErrorText* find_text(CUresult code) {
  const auto* found =
      std::find_if(std::begin(kErrorTexts), std::end(kErrorTexts),
                   [&](const ErrorText& entry) { return entry.code == static_cast<int>(code); });
  return found == std::end(kErrorTexts) ? nullptr : found;
}

// For what a kernel that is compiled at run time needs: done in a probe, which does nothing, alone.
CUresult probed_only(const char* name) {
  return devsan::sim::probing() ? CUDA_SUCCESS
                                : static_cast<CUresult>(devsan::sim::not_supported(name));
}

}  // namespace

DEVSAN_DRIVER_API CUresult cuInit(unsigned) {
  return answer(Status::kSuccess);
}

DEVSAN_DRIVER_API CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuGetErrorString(CUresult code, const char** text) {
  const ErrorText* entry = find_text(code);
  if (entry == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::string_view missing = devsan::sim::last_not_supported();
  if (code != CUDA_ERROR_NOT_SUPPORTED || missing.empty()) {
    *text = entry->text;
    return CUDA_SUCCESS;
  }
  thread_local std::string named;
  named = std::string(entry->text) + " (devsan simulator: " + std::string(missing) +
          " is not emulated)";
  *text = named.c_str();
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuGetErrorName(CUresult code, const char** name) {
  const ErrorText* entry = find_text(code);
  if (entry == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = entry->name;
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuDeviceGetCount(int* count) {
  *count = machine().device_count();
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!machine().has_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (!machine().has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::string text = std::string(machine().config().gpu.name) + " (simulated)";
  std::snprintf(name, static_cast<std::size_t>(length), "%s", text.c_str());
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  if (!machine().has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const auto bytes = devsan::sim::device_uuid(machine().physical(device));
  std::copy(bytes.begin(), bytes.end(), uuid->bytes);
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  if (!machine().has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = machine().config().gpu.memory;
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                                CUdevice device) {
  if (cudaDeviceGetAttribute == nullptr) {
    return answer(static_cast<Status>(devsan::sim::not_supported("cuDeviceGetAttribute")));
  }
  return static_cast<CUresult>(cudaDeviceGetAttribute(value, static_cast<int>(attribute), device));
}

DEVSAN_DRIVER_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags,
                                                      int* active) {
  if (!machine().has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = machine().memory().use(device).used != 0 ? 1 : 0;
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!machine().has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = context_of(device);
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return machine().has_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

DEVSAN_DRIVER_API CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = context_of(current_device());
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuCtxSetCurrent(CUcontext context) {
  const auto device = device_of(context);
  return device ? answer(devsan::sim::set_current_device(*device)) : CUDA_ERROR_INVALID_VALUE;
}

DEVSAN_DRIVER_API CUresult cuCtxGetDevice(CUdevice* device) {
  *device = current_device();
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  if (machine().device_count() == 0) return CUDA_ERROR_NO_DEVICE;
  const devsan::sim::MemoryUse use = machine().memory().use(current_device());
  *free = use.free();
  *total = use.capacity;
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                                            CUstream) {
  if (!devsan::sim::probing()) std::fill_n(static_cast<unsigned*>(pointer(to)), count, value);
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuMemGetAllocationGranularity(size_t* granularity,
                                                         const CUmemAllocationProp*,
                                                         CUmemAllocationGranularity_flags) {
  *granularity = devsan::sim::kVirtualMemoryGranularity;
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                                       const CUmemAllocationProp* properties, unsigned long long) {
  devsan::sim::PhysicalHandle physical = 0;
  const Status status = devsan::sim::create_physical(properties->location.id, bytes, &physical);
  *handle = physical;
  return answer(status);
}

DEVSAN_DRIVER_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return answer(devsan::sim::release_physical(handle));
}

DEVSAN_DRIVER_API CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t,
                                               CUdeviceptr, unsigned long long) {
  void* base = nullptr;
  const Status status = devsan::sim::reserve_range(bytes, &base);
  *address = reinterpret_cast<CUdeviceptr>(base);
  return answer(status);
}

DEVSAN_DRIVER_API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return answer(devsan::sim::release_range(pointer(address), bytes));
}

DEVSAN_DRIVER_API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                                    CUmemGenericAllocationHandle handle, unsigned long long) {
  return answer(devsan::sim::map_range(pointer(address), bytes, offset, handle));
}

DEVSAN_DRIVER_API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return answer(devsan::sim::unmap_range(pointer(address), bytes));
}

// Mapped memory can be touched by every device from the start.
DEVSAN_DRIVER_API CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t) {
  return CUDA_SUCCESS;
}

DEVSAN_DRIVER_API CUresult cuModuleLoadData(CUmodule* module, const void*) {
  *module = nullptr;
  return probed_only("cuModuleLoadData");
}

DEVSAN_DRIVER_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  *function = nullptr;
  return probed_only("cuModuleGetFunction");
}

DEVSAN_DRIVER_API CUresult cuModuleUnload(CUmodule) {
  return probed_only("cuModuleUnload");
}

DEVSAN_DRIVER_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int,
                                                                       size_t) {
  *blocks = 1;
  return probed_only("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}

DEVSAN_DRIVER_API CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned,
                                          unsigned, unsigned, unsigned, CUstream, void**, void**) {
  return probed_only("cuLaunchKernel");
}

// By name, among the functions of this library; versions are tried as the headers name them.
DEVSAN_DRIVER_API CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                                               CUdriverProcAddressQueryResult* result) {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&cuInit), &own);
  void* library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  *function = nullptr;
  for (const char* version : {"", "_v2", "_v3", "_v4"}) {
    if (library == nullptr || *function != nullptr) break;
    *function = dlsym(library, (std::string(name) + version).c_str());
  }
  if (library != nullptr) dlclose(library);
  if (result != nullptr) {
    *result =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
