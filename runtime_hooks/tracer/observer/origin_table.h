// The origin of each storage that is alive.
//
// Keyed by StorageImpl address, which alone would be wrong: freed storages' addresses come back. An
// entry holds a weak reference, which keeps the address from being used again while the entry is
// there; expired entries are swept as the table grows.
#pragma once

#include <array>
#include <atomic>
#include <optional>

#include <c10/util/flat_hash_map.h>

#include "core/fork_safe.h"
#include "core/origin.h"
#include "observer/compat.h"

namespace devsan::trace {

class OriginTable {
 public:
  // What is known of one storage.
  struct Found {
    OriginRef made;
    OriginRef filled;  // the last copy_ into it from another device, if any
  };

  Found find(c10::StorageImpl* storage);

  // Whether the storage has an entry. Mostly without a lock.
  bool knows(c10::StorageImpl* storage);

  void set_made(const c10::Storage& storage, OriginRef origin);
  void set_filled(c10::StorageImpl* storage, OriginRef origin);

  std::size_t size();

 private:
  // How many expired entries a shard may hold, or half as many as live ones. Few: an entry keeps
  // the freed storage's StorageImpl, and small blocks that stay between freed tensors make malloc
  // return memory to the system and fetch it again at every step.
  static constexpr std::size_t kSlack = 32;

  struct Entry {
    std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> alive;
    OriginRef made;
    OriginRef filled;
  };
  struct Shard {
    ForkSafeMutex mutex;
    ska::flat_hash_map<c10::StorageImpl*, Entry> entries;
    std::size_t sweep_at = kSlack;
  };

  Shard& shard_of(c10::StorageImpl* storage);
  void sweep(Shard& shard);

  std::array<Shard, 16> shards_;
  std::atomic<std::uint32_t> sweeps_{0};  // entries vanish only by a sweep
};

}  // namespace devsan::trace
