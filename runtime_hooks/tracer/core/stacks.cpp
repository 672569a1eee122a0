// The table of stacks, with a small cache a thread so that a known stack costs no lock.
#include "core/stacks.h"

#include <algorithm>
#include <array>

namespace devsan::trace {
namespace {

struct Recent {
  const StackInterner* owner = nullptr;
  std::uint64_t hash = 0;
  const std::vector<std::uintptr_t>* words = nullptr;
  StackId id = kNoStack;
};

constexpr std::size_t kRecent = 256;
thread_local std::array<Recent, kRecent> recent_stacks;

Recent& slot_of(const StackInterner* owner, std::uint64_t hash) {
  return recent_stacks[(hash ^ (reinterpret_cast<std::uintptr_t>(owner) >> 6)) % kRecent];
}

}  // namespace

StackInterner::StackInterner() : stacks_(1) {}

std::uint64_t StackInterner::hash_of(std::span<const std::uintptr_t> words) {
  std::uint64_t hash = words.size() * 0x9E3779B97F4A7C15ull;
  for (const std::uintptr_t word : words) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdull;
    hash ^= hash >> 29;
  }
  return hash;
}

StackId StackInterner::recent(std::span<const std::uintptr_t> words, std::uint64_t hash) {
  const Recent& slot = slot_of(this, hash);
  if (slot.owner != this || slot.hash != hash) return kNoStack;
  return std::ranges::equal(*slot.words, words) ? slot.id : kNoStack;
}

void StackInterner::remember(std::uint64_t hash, StackId id) {
  if (id == kNoStack) return;
  std::lock_guard lock(mutex_);
  slot_of(this, hash) = {this, hash, &stacks_[id], id};
}

StackId StackInterner::find_locked(std::span<const std::uintptr_t> words, std::uint64_t hash) {
  const auto [first, last] = ids_.equal_range(hash);
  for (auto entry = first; entry != last; ++entry) {
    if (std::ranges::equal(stacks_[entry->second], words)) return entry->second;
  }
  return kNoStack;
}

StackId StackInterner::find(std::span<const std::uintptr_t> words, std::uint64_t hash) {
  std::lock_guard lock(mutex_);
  return find_locked(words, hash);
}

StackId StackInterner::insert(std::span<const std::uintptr_t> words, std::uint64_t hash) {
  std::lock_guard lock(mutex_);
  if (const StackId id = find_locked(words, hash)) return id;  // another thread was first
  if (words_ + words.size() > kMaxWords) return kNoStack;
  words_ += words.size();
  const auto id = static_cast<StackId>(stacks_.size());
  stacks_.emplace_back(words.begin(), words.end());
  ids_.emplace(hash, id);
  return id;
}

std::span<const std::uintptr_t> StackInterner::words(StackId id) {
  std::lock_guard lock(mutex_);
  return stacks_[id];
}

std::size_t StackInterner::size() {
  std::lock_guard lock(mutex_);
  return stacks_.size() - 1;
}

}  // namespace devsan::trace
