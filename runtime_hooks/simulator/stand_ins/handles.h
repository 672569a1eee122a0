// What the stand-ins of the math libraries hand out: handles that can be made, set up and
// destroyed, so that a probed kernel reaches its checks, and that nothing can be computed with.
#pragma once

#include <cstdlib>

#define DEVSAN_LIBRARY_API extern "C" __attribute__((visibility("default")))

namespace devsan::sim {

// As large as any descriptor that a caller might look into; zeroed.
inline constexpr std::size_t kHandleBytes = 512;

template <typename Handle>
int make_handle(Handle* handle) {
  *handle = static_cast<Handle>(std::calloc(1, kHandleBytes));
  return *handle != nullptr ? 0 : 1;
}

}  // namespace devsan::sim

#define DEVSAN_HANDLE(create, destroy)           \
  DEVSAN_LIBRARY_API int create(void** handle) { \
    return devsan::sim::make_handle(handle);     \
  }                                              \
  DEVSAN_LIBRARY_API int destroy(void* handle) { \
    std::free(handle);                           \
    return 0;                                    \
  }
