// Accounting of device memory, pinned and registered host memory.
#include "simulator/core/memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace devsan::sim {
namespace {

// cudaMalloc hands out whole pages of at least this size on the devices simulated; what
// cudaMemGetInfo reports as used moves in these steps.
constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPage - 1) & ~(kPage - 1);
}

std::uintptr_t address(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

Memory::Memory(int devices, std::size_t capacity)
    : capacity_(capacity), used_(static_cast<std::size_t>(devices), 0) {}

Memory::~Memory() {
  for (const auto& [base, block] : blocks_) {
    if (block.kind == MemoryKind::kDevice) munmap(block.base, whole_pages(block.bytes));
    if (block.kind == MemoryKind::kPinned) std::free(block.base);
  }
}

Status Memory::reserve_locked(int device, std::size_t bytes) {
  std::size_t& used = used_.at(static_cast<std::size_t>(device));
  if (bytes > capacity_ - used) return Status::kOutOfMemory;
  used += bytes;
  return Status::kSuccess;
}

Status Memory::allocate(int device, std::size_t bytes, void** out) {
  *out = nullptr;
  if (bytes == 0) return Status::kSuccess;
  if (bytes > capacity_) return Status::kOutOfMemory;  // also keeps whole_pages from wrapping
  const std::size_t reserved = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  if (const Status status = reserve_locked(device, reserved); status != Status::kSuccess)
    return status;
  // Without swap reserved: a simulated device is mostly larger than the host, and mostly untouched.
  void* base = mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    used_[static_cast<std::size_t>(device)] -= reserved;
    return Status::kOutOfMemory;
  }
  blocks_.emplace(address(base), Block{base, bytes, device, MemoryKind::kDevice});
  *out = base;
  return Status::kSuccess;
}

Status Memory::release(void* pointer) {
  if (pointer == nullptr) return Status::kSuccess;
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address(pointer));
  if (found == blocks_.end() || found->second.kind != MemoryKind::kDevice)
    return Status::kInvalidValue;
  const Block block = found->second;
  blocks_.erase(found);
  used_[static_cast<std::size_t>(block.device)] -= whole_pages(block.bytes);
  munmap(block.base, whole_pages(block.bytes));
  return Status::kSuccess;
}

Status Memory::allocate_pinned(int device, std::size_t bytes, void** out) {
  *out = nullptr;
  if (bytes == 0) return Status::kSuccess;
  void* base = std::aligned_alloc(kPage, whole_pages(bytes));
  if (base == nullptr) return Status::kOutOfMemory;
  const std::lock_guard lock(mutex_);
  blocks_.emplace(address(base), Block{base, bytes, device, MemoryKind::kPinned});
  *out = base;
  return Status::kSuccess;
}

Status Memory::release_pinned(void* pointer) {
  if (pointer == nullptr) return Status::kSuccess;
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address(pointer));
  if (found == blocks_.end() || found->second.kind != MemoryKind::kPinned)
    return Status::kInvalidValue;
  blocks_.erase(found);
  std::free(pointer);
  return Status::kSuccess;
}

Status Memory::register_host(int device, void* pointer, std::size_t bytes) {
  if (pointer == nullptr || bytes == 0) return Status::kInvalidValue;
  const std::lock_guard lock(mutex_);
  if (find_locked(pointer) != blocks_.end()) return Status::kHostMemoryAlreadyRegistered;
  blocks_.emplace(address(pointer), Block{pointer, bytes, device, MemoryKind::kRegistered});
  return Status::kSuccess;
}

Status Memory::unregister_host(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address(pointer));
  if (found == blocks_.end() || found->second.kind != MemoryKind::kRegistered) {
    return Status::kHostMemoryNotRegistered;
  }
  blocks_.erase(found);
  return Status::kSuccess;
}

Status Memory::reserve(int device, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return reserve_locked(device, bytes);
}

void Memory::unreserve(int device, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_.at(static_cast<std::size_t>(device)) -= bytes;
}

void Memory::add_mapping(int device, void* base, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  blocks_.emplace(address(base), Block{base, bytes, device, MemoryKind::kMapped});
}

void Memory::remove_mappings(void* base, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto block = blocks_.lower_bound(address(base));
  while (block != blocks_.end() && block->first < address(base) + bytes) {
    block = block->second.kind == MemoryKind::kMapped ? blocks_.erase(block) : std::next(block);
  }
}

std::map<std::uintptr_t, Block>::const_iterator Memory::find_locked(const void* pointer) const {
  auto after = blocks_.upper_bound(address(pointer));
  if (after == blocks_.begin()) return blocks_.end();
  const auto candidate = std::prev(after);
  return address(pointer) - candidate->first < candidate->second.bytes ? candidate : blocks_.end();
}

std::optional<Block> Memory::find(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const auto found = find_locked(pointer);
  if (found == blocks_.end()) return std::nullopt;
  return found->second;
}

MemoryUse Memory::use(int device) const {
  const std::lock_guard lock(mutex_);
  return {capacity_, used_.at(static_cast<std::size_t>(device))};
}

}  // namespace devsan::sim
