// PyTorch's CPU allocator, made able to take memory from a simulated device: what a redirected op
// makes on the CPU is then device memory already, counted by the CUDA caching allocator, and never
// copied.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

namespace devsan::sim {

// Puts the switchable allocator before the CPU allocator that was there. Once, at start.
void install_allocator();

// The allocator that resizes storages made under a DeviceAllocationScope.
c10::Allocator* switchable_allocator();

// While it lives, CPU allocations of this thread come from `device`, which must be current.
class DeviceAllocationScope {
 public:
  explicit DeviceAllocationScope(c10::DeviceIndex device);
  ~DeviceAllocationScope();
  DeviceAllocationScope(const DeviceAllocationScope&) = delete;
  DeviceAllocationScope& operator=(const DeviceAllocationScope&) = delete;

 private:
  c10::DeviceIndex previous_;
};

}  // namespace devsan::sim
