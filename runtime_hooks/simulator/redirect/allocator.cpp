// The switchable CPU allocator.
#include "simulator/redirect/allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "simulator/core/machine.h"

namespace devsan::sim {
namespace {

constexpr c10::DeviceIndex kHost = -1;

thread_local c10::DeviceIndex allocation_device = kHost;

c10::Allocator* host_allocator = nullptr;

// For memory that was taken from the allocator as a bare pointer.
void delete_raw(void* pointer) {
  if (pointer == nullptr) return;
  const auto block = machine().memory().find(pointer);
  if (block && block->on_device()) {
    c10::cuda::CUDACachingAllocator::raw_delete(pointer);
  } else {
    host_allocator->raw_deleter()(pointer);
  }
}

class SwitchableAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (allocation_device == kHost) return host_allocator->allocate(bytes);
    // What the caching allocator itself needs on the CPU is host memory.
    const DeviceAllocationScope on_host(kHost);
    c10::DataPtr data = c10::cuda::CUDACachingAllocator::get()->allocate(bytes);
    data.unsafe_set_device(c10::Device(c10::DeviceType::CPU));
    return data;
  }

  c10::DeleterFnPtr raw_deleter() const override { return &delete_raw; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

SwitchableAllocator the_allocator;

// Above every allocator that PyTorch or an extension sets itself.
constexpr std::uint8_t kPriority = 255;

}  // namespace

void install_allocator() {
  host_allocator = c10::GetCPUAllocator();
  c10::SetCPUAllocator(&the_allocator, kPriority);
}

c10::Allocator* switchable_allocator() {
  return &the_allocator;
}

DeviceAllocationScope::DeviceAllocationScope(c10::DeviceIndex device)
    : previous_(allocation_device) {
  allocation_device = device;
}

DeviceAllocationScope::~DeviceAllocationScope() {
  allocation_device = previous_;
}

}  // namespace devsan::sim
