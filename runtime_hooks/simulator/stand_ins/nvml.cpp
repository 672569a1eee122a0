// libnvidia-ml.so.1: the management library, which PyTorch counts devices with and asks for the
// memory of this process when it is out of memory. A real one beside simulated devices would speak
// of real ones. It sees the whole machine, whatever CUDA_VISIBLE_DEVICES says.
#include <unistd.h>

#include <cstdio>
#include <iterator>

#include "simulator/core/machine.h"
#include "simulator/stand_ins/handles.h"

using devsan::sim::machine;

namespace {

// The numbers of nvmlReturn_t; its header comes with the driver alone.
enum Answer : int {
  kSuccess = 0,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7
};

// nvmlProcessInfo_v1_t.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
};

// A handle is the address of the mark of a device of the machine.
char marks[devsan::sim::kMaxDevices];

int physical_of(const void* handle) {
  const auto* mark = static_cast<const char*>(handle);
  const bool ours = mark >= std::begin(marks) && mark < std::end(marks);
  return ours ? static_cast<int>(mark - std::begin(marks)) : -1;
}

int give_handle(int physical, void** handle) {
  if (physical < 0 || physical >= machine().config().devices) return kNotFound;
  *handle = &marks[physical];
  return kSuccess;
}

}  // namespace

DEVSAN_LIBRARY_API int nvmlInit() {
  return kSuccess;
}
DEVSAN_LIBRARY_API int nvmlInit_v2() {
  return kSuccess;
}
DEVSAN_LIBRARY_API int nvmlInitWithFlags(unsigned) {
  return kSuccess;
}
DEVSAN_LIBRARY_API int nvmlShutdown() {
  return kSuccess;
}

DEVSAN_LIBRARY_API const char* nvmlErrorString(int answer) {
  switch (answer) {
    case kSuccess:
      return "Success";
    case kNotSupported:
      return "Not Supported (devsan simulator)";
    default:
      return "Invalid argument or not found";
  }
}

DEVSAN_LIBRARY_API int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(machine().config().devices);
  return kSuccess;
}

DEVSAN_LIBRARY_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  return give_handle(static_cast<int>(index), handle);
}

DEVSAN_LIBRARY_API int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle) {
  unsigned domain = 0;
  unsigned bus = 0;
  if (std::sscanf(text, "%x:%x:", &domain, &bus) != 2) return kInvalidArgument;
  return give_handle(static_cast<int>(bus) - devsan::sim::kFirstPciBus, handle);
}

DEVSAN_LIBRARY_API int nvmlDeviceGetUUID(void* handle, char* text, unsigned length) {
  const int physical = physical_of(handle);
  if (physical < 0) return kInvalidArgument;
  std::snprintf(text, length, "%s", devsan::sim::device_uuid_text(physical).c_str());
  return kSuccess;
}

// This process alone: no other is on the simulated machine.
DEVSAN_LIBRARY_API int nvmlDeviceGetComputeRunningProcesses(void* handle, unsigned* count,
                                                            ProcessInfo* processes) {
  const int physical = physical_of(handle);
  if (physical < 0) return kInvalidArgument;
  const unsigned room = *count;
  *count = 0;
  for (int device = 0; device < machine().device_count(); ++device) {
    const std::size_t used = machine().memory().use(device).used;
    if (machine().physical(device) != physical || used == 0) continue;
    *count = 1;
    if (room < 1) return kInsufficientSize;
    processes[0] = {static_cast<unsigned>(getpid()), used};
  }
  return kSuccess;
}

// Looked up by PyTorch when it loads this library; there are no links between simulated devices.
DEVSAN_LIBRARY_API int nvmlDeviceGetGpuFabricInfoV(void*, void*) {
  return kNotSupported;
}
DEVSAN_LIBRARY_API int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, void*) {
  return kNotSupported;
}
DEVSAN_LIBRARY_API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) {
  return kNotSupported;
}
DEVSAN_LIBRARY_API int nvmlSystemGetCudaDriverVersion_v2(int*) {
  return kNotSupported;
}
