// The sharded table of origins.
#include "observer/origin_table.h"

#include <mutex>

namespace devsan::trace {
namespace {

// Storages this thread has found in the table since its last sweep. There is one table a process.
struct Known {
  c10::StorageImpl* storage = nullptr;
  std::uint32_t sweeps = 0;
};
constexpr std::size_t kKnown = 512;
thread_local std::array<Known, kKnown> known_storages;

Known& slot_of(c10::StorageImpl* storage) {
  return known_storages[(reinterpret_cast<std::uintptr_t>(storage) >> 5) % kKnown];
}

}  // namespace

OriginTable::Shard& OriginTable::shard_of(c10::StorageImpl* storage) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage);
  return shards_[((address >> 6) ^ (address >> 12)) % shards_.size()];
}

OriginTable::Found OriginTable::find(c10::StorageImpl* storage) {
  Shard& shard = shard_of(storage);
  std::lock_guard lock(shard.mutex);
  const auto entry = shard.entries.find(storage);
  if (entry == shard.entries.end()) return {};
  return {entry->second.made, entry->second.filled};
}

bool OriginTable::knows(c10::StorageImpl* storage) {
  // Read before looking: a sweep that comes between makes the note stale at once.
  const std::uint32_t sweeps = sweeps_.load(std::memory_order_acquire);
  Known& slot = slot_of(storage);
  if (slot.storage == storage && slot.sweeps == sweeps) return true;
  Shard& shard = shard_of(storage);
  std::lock_guard lock(shard.mutex);
  if (shard.entries.find(storage) == shard.entries.end()) return false;
  slot = {storage, sweeps};
  return true;
}

void OriginTable::set_made(const c10::Storage& storage, OriginRef origin) {
  c10::StorageImpl* address = storage.unsafeGetStorageImpl();
  const std::uint32_t sweeps = sweeps_.load(std::memory_order_acquire);
  Shard& shard = shard_of(address);
  std::lock_guard lock(shard.mutex);
  if (shard.entries.size() >= shard.sweep_at) sweep(shard);
  Entry& entry = shard.entries[address];
  if (!entry.alive) entry.alive.emplace(storage.getWeakStorageImpl());
  entry.made = std::move(origin);
  entry.filled.reset();
  slot_of(address) = {address, sweeps};
}

void OriginTable::set_filled(c10::StorageImpl* storage, OriginRef origin) {
  Shard& shard = shard_of(storage);
  std::lock_guard lock(shard.mutex);
  const auto entry = shard.entries.find(storage);
  if (entry != shard.entries.end()) entry->second.filled = std::move(origin);
}

void OriginTable::sweep(Shard& shard) {
  sweeps_.fetch_add(1, std::memory_order_acq_rel);
  for (auto entry = shard.entries.begin(); entry != shard.entries.end();) {
    if (entry->second.alive->expired()) {
      entry = shard.entries.erase(entry);
    } else {
      ++entry;
    }
  }
  const std::size_t live = shard.entries.size();
  shard.sweep_at = live + std::max(kSlack, live / 2);
}

std::size_t OriginTable::size() {
  std::size_t total = 0;
  for (Shard& shard : shards_) {
    std::lock_guard lock(shard.mutex);
    total += shard.entries.size();
  }
  return total;
}

}  // namespace devsan::trace
