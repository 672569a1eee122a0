// The kernel registry and the launch policy.
#include "simulator/core/kernels.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "simulator/core/machine.h"
#include "simulator/core/not_emulated.h"
#include "simulator/core/probe.h"

namespace devsan::sim {
namespace {

constexpr unsigned kMaxThreadsPerBlock = 1024;

std::string demangle(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : mangled;
}

bool valid(Dim3 grid, Dim3 block) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return false;
  if (block.x == 0 || block.y == 0 || block.z == 0) return false;
  return std::uint64_t{block.x} * block.y * block.z <= kMaxThreadsPerBlock;
}

}  // namespace

void Kernels::add(const void* host_function, const char* mangled_name) {
  const std::lock_guard lock(mutex_);
  names_[host_function] = mangled_name;
}

void Kernels::add_variable(const void* host_variable, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  variables_[host_variable].bytes = bytes;
}

std::string Kernels::name(const void* host_function) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(host_function);
  return found == names_.end() ? "(a function that was not registered)" : demangle(found->second);
}

void* Kernels::variable(const void* host_variable) {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(host_variable);
  if (found == variables_.end()) return nullptr;
  Variable& variable = found->second;
  if (!variable.value) variable.value = std::make_unique<std::byte[]>(variable.bytes);
  return variable.value.get();
}

std::optional<std::size_t> Kernels::variable_bytes(const void* host_variable) const {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(host_variable);
  if (found == variables_.end()) return std::nullopt;
  return found->second.bytes;
}

Status launch(const void* host_function, Dim3 grid, Dim3 block, StreamHandle stream) {
  Machine& simulated = machine();
  const std::optional<Stream> on = simulated.streams().find(stream, current_device());
  if (!on || on->device != current_device()) return Status::kInvalidResourceHandle;
  if (!valid(grid, block)) return Status::kInvalidConfiguration;
  if (probing()) return Status::kSuccess;
  throw NotEmulated("CUDA kernel " + simulated.kernels().name(host_function));
}

}  // namespace devsan::sim
