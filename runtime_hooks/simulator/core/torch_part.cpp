// Finding, checking and opening the kernel redirect, which lies beside this library.
#include "simulator/core/torch_part.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "simulator/core/machine.h"
#include "simulator/core/torch_identity.h"

namespace devsan::sim {
namespace {

constexpr int kExitUsage = 2;

[[noreturn]] void refuse(const std::string& reason) {
  std::fprintf(stderr, "devsan: cannot simulate: %s\n", reason.c_str());
  _exit(kExitUsage);
}

bool is_loaded(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&open_torch_part), &info) == 0) return {};
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

void open_redirect() {
  const std::vector<LibraryId> loaded = loaded_torch_libraries();
  const TorchIdentity* torch = match_torch(supported_torches(), loaded);
  if (torch == nullptr) refuse(describe_mismatch(supported_torches(), loaded));
  const std::string path = own_folder() + std::string(torch->redirect);
  // Local: its symbols must not get in the way of the program's.
  void* redirect = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (redirect == nullptr) refuse(dlerror());
  auto* start = reinterpret_cast<const char* (*)()>(dlsym(redirect, "devsan_redirect_start"));
  if (start == nullptr) refuse(dlerror());
  if (const char* problem = start()) refuse(problem);
  if (machine().config().verbose) {
    std::fprintf(stderr, "devsan simulator: %d devices, %s\n", machine().device_count(),
                 path.c_str());
  }
}

}  // namespace

void open_torch_part() {
  static std::once_flag opened;
  if (!is_loaded("libtorch_cuda.so")) return;
  std::call_once(opened, &open_redirect);
}

}  // namespace devsan::sim
