// Device code that programs register, and the one rule for launching it: nothing happens in a
// probe, and everywhere else a launch throws, because a kernel that silently does nothing leaves
// garbage.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "simulator/core/status.h"
#include "simulator/core/streams.h"

namespace devsan::sim {

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

// All methods may be called from any thread.
class Kernels {
 public:
  // `host_function` is the address that launches name; `mangled_name` must live on.
  void add(const void* host_function, const char* mangled_name);
  // A __device__ or __constant__ variable of `bytes`.
  void add_variable(const void* host_variable, std::size_t bytes);

  // Demangled; a text that says so for a function that was never registered.
  std::string name(const void* host_function) const;

  // Device memory for a registered variable, zeroed, made at the first call; null for an unknown
  // one.
  void* variable(const void* host_variable);
  // Its size in bytes, empty for an unknown one.
  std::optional<std::size_t> variable_bytes(const void* host_variable) const;

 private:
  struct Variable {
    std::size_t bytes = 0;
    std::unique_ptr<std::byte[]> value;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const void*, const char*> names_;
  std::unordered_map<const void*, Variable> variables_;
};

// Checks what CUDA checks before a launch (sizes, the stream's device against the current one),
// then throws NotEmulated with the kernel's name unless the thread is probing.
Status launch(const void* host_function, Dim3 grid, Dim3 block, StreamHandle stream);

}  // namespace devsan::sim
