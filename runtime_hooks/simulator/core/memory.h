// Memory of the simulated devices, and host memory that CUDA knows: who owns an address, how much
// each device has left. Device memory is host memory that is reserved and counted, never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "simulator/core/status.h"

namespace devsan::sim {

enum class MemoryKind { kDevice, kMapped, kPinned, kRegistered };

struct Block {
  void* base = nullptr;
  std::size_t bytes = 0;  // as asked for
  int device = 0;         // the owner; for host memory the device that was current
  MemoryKind kind = MemoryKind::kDevice;

  bool on_device() const { return kind == MemoryKind::kDevice || kind == MemoryKind::kMapped; }
};

struct MemoryUse {
  std::size_t capacity = 0;
  std::size_t used = 0;

  std::size_t free() const { return capacity - used; }
};

// All methods may be called from any thread.
class Memory {
 public:
  Memory(int devices, std::size_t capacity);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Device memory, aligned to 512 bytes or better as CUDA's is. No bytes give a null pointer, as in
  // CUDA.
  Status allocate(int device, std::size_t bytes, void** out);
  Status release(void* pointer);

  Status allocate_pinned(int device, std::size_t bytes, void** out);
  Status release_pinned(void* pointer);
  Status register_host(int device, void* pointer, std::size_t bytes);
  Status unregister_host(void* pointer);

  // Physical memory that is accounted for without an address: what cuMemCreate reserves.
  Status reserve(int device, std::size_t bytes);
  void unreserve(int device, std::size_t bytes);
  // Names an address range that shows reserved memory, and forgets all such blocks in a range.
  void add_mapping(int device, void* base, std::size_t bytes);
  void remove_mappings(void* base, std::size_t bytes);

  // The block that holds `pointer`, also in its middle.
  std::optional<Block> find(const void* pointer) const;

  MemoryUse use(int device) const;

 private:
  std::map<std::uintptr_t, Block>::const_iterator find_locked(const void* pointer) const;
  Status reserve_locked(int device, std::size_t bytes);

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Block> blocks_;  // by first address
  std::size_t capacity_;
  std::vector<std::size_t> used_;  // bytes, by device
};

}  // namespace devsan::sim
