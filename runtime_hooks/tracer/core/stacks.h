// Stacks, kept once each: an op's stack is a number, equal stacks have equal numbers.
//
// A stack is a list of machine words whose meaning is its owner's (program counters; code object
// and instruction). Stacks are compared by content and kept for ever, so owners pin what the words
// point to once, when a stack is first seen.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/fork_safe.h"

namespace devsan::trace {

using StackId = std::uint32_t;
constexpr StackId kNoStack = 0;

class StackInterner {
 public:
  StackInterner();

  // The number of `words`. `pin(words)` runs before a new stack is kept, without any lock held (it
  // may wait for the GIL). Gives kNoStack for no words, and for a new stack when kMaxWords are in
  // use.
  template <class Pin>
  StackId intern(std::span<const std::uintptr_t> words, Pin&& pin) {
    if (words.empty()) return kNoStack;
    const std::uint64_t hash = hash_of(words);
    if (const StackId known = recent(words, hash)) return known;
    StackId id = find(words, hash);
    if (id == kNoStack) {
      pin(words);
      id = insert(words, hash);
    }
    remember(hash, id);
    return id;
  }

  // Empty for kNoStack.
  std::span<const std::uintptr_t> words(StackId id);

  std::size_t size();

  // 128 MiB: a program that makes new code without end must not fill memory with its stacks.
  static constexpr std::size_t kMaxWords = std::size_t{16} << 20;

 private:
  static std::uint64_t hash_of(std::span<const std::uintptr_t> words);
  StackId recent(std::span<const std::uintptr_t> words, std::uint64_t hash);
  void remember(std::uint64_t hash, StackId id);
  StackId find(std::span<const std::uintptr_t> words, std::uint64_t hash);
  StackId insert(std::span<const std::uintptr_t> words, std::uint64_t hash);
  StackId find_locked(std::span<const std::uintptr_t> words, std::uint64_t hash);

  ForkSafeMutex mutex_;
  std::unordered_multimap<std::uint64_t, StackId> ids_;
  std::deque<std::vector<std::uintptr_t>> stacks_;  // by id; references stay valid
  std::size_t words_ = 0;
};

}  // namespace devsan::trace
