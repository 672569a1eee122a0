// libnccl.so.2 for one process: it says its version, and every attempt to make a communicator fails
// by name. The real library must not run here: it would take the simulated devices for real ones.
#include <nccl.h>

#include <string>

#include "simulator/core/not_emulated.h"
#include "simulator/stand_ins/handles.h"

namespace {

thread_local std::string last_error;

}  // namespace

DEVSAN_LIBRARY_API ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

DEVSAN_LIBRARY_API const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : "unhandled system error";
}

DEVSAN_LIBRARY_API const char* ncclGetLastError(ncclComm_t) {
  return last_error.c_str();
}

// What the generated bodies of all other functions call.
extern "C" int devsan_missing_nccl(const char* name) {
  last_error = std::string("devsan simulator: ") + name + " is not emulated";
  return ncclSystemError;
}
