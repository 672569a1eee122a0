// NCCL's interface: its version and errors, memory, and buffers that a program registers. To
// register a buffer makes NCCL faster and changes no result, so it is only checked here.
#include "simulator/core/machine.h"
#include "simulator/core/not_emulated.h"
#include "simulator/stand_ins/handles.h"
#include "simulator/stand_ins/nccl/handles.h"

using devsan::sim::machine;
using devsan::sim::Status;
using devsan::sim::nccl::Failure;
namespace nccl = devsan::sim::nccl;

namespace {

// A handle for a registered buffer; `Handle` is opaque to the program.
template <typename Handle>
void register_buffer(ncclComm_t comm, const char* function, void* buffer, Handle* handle) {
  const auto communicator = nccl::find_handle(comm, function);
  const auto block = machine().memory().find(buffer);
  if (!block || !block->on_device() || block->device != communicator->device()) {
    throw Failure(ncclInvalidArgument,
                  std::string(function) + " : buff is no memory of the communicator's device");
  }
  if (devsan::sim::make_handle(handle) != 0) {
    throw Failure(ncclSystemError, "devsan simulator: out of host memory");
  }
}

}  // namespace

DEVSAN_LIBRARY_API ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

DEVSAN_LIBRARY_API const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    case ncclNumResults:
      break;
  }
  return "unknown result code";
}

DEVSAN_LIBRARY_API const char* ncclGetLastError(ncclComm_t) {
  return nccl::last_error();
}

DEVSAN_LIBRARY_API ncclResult_t ncclMemAlloc(void** pointer, size_t bytes) {
  return nccl::answer([&] {
    const Status status =
        machine().memory().allocate(devsan::sim::current_device(), bytes, pointer);
    if (status != Status::kSuccess) {
      throw Failure(ncclUnhandledCudaError, "Cuda failure 2 'out of memory'");
    }
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclMemFree(void* pointer) {
  return nccl::answer([&] {
    if (machine().memory().release(pointer) != Status::kSuccess) {
      throw Failure(ncclInvalidArgument, "MemFree : ptr was not given by ncclMemAlloc");
    }
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buffer, size_t,
                                                 void** handle) {
  return nccl::answer([&] { register_buffer(comm, "CommRegister", buffer, handle); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle) {
  return nccl::answer([&] {
    nccl::find_handle(comm, "CommDeregister");
    std::free(handle);
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buffer, size_t,
                                                       ncclWindow_t* window, int) {
  return nccl::answer([&] { register_buffer(comm, "CommWindowRegister", buffer, window); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  return nccl::answer([&] {
    nccl::find_handle(comm, "CommWindowDeregister");
    std::free(window);
  });
}

// What the generated bodies of all other functions call. Some of them return structures, so an
// error code would be taken for a value.
extern "C" int devsan_missing_nccl(const char* name) {
  throw devsan::sim::NotEmulated(name);
}
