// Interning of stacks.
#include "core/stacks.h"

#include <gtest/gtest.h>

#include <thread>

namespace devsan::trace {
namespace {

using Words = std::vector<std::uintptr_t>;
const auto kNoPin = [](std::span<const std::uintptr_t>) {};

TEST(Stacks, EqualStacksHaveOneNumber) {
  StackInterner stacks;
  const StackId first = stacks.intern(Words{1, 2, 3}, kNoPin);
  EXPECT_NE(first, kNoStack);
  EXPECT_EQ(stacks.intern(Words{1, 2, 3}, kNoPin), first);
  EXPECT_NE(stacks.intern(Words{1, 2}, kNoPin), first);
  EXPECT_NE(stacks.intern(Words{3, 2, 1}, kNoPin), first);
  EXPECT_EQ(stacks.size(), 3u);
}

TEST(Stacks, GiveTheirWordsBack) {
  StackInterner stacks;
  const StackId id = stacks.intern(Words{7, 8}, kNoPin);
  const auto words = stacks.words(id);
  EXPECT_EQ(Words(words.begin(), words.end()), (Words{7, 8}));
}

TEST(Stacks, NoWordsAreNoStack) {
  StackInterner stacks;
  EXPECT_EQ(stacks.intern(Words{}, kNoPin), kNoStack);
  EXPECT_TRUE(stacks.words(kNoStack).empty());
}

TEST(Stacks, ArePinnedOnce) {
  StackInterner stacks;
  int pinned = 0;
  const auto pin = [&](std::span<const std::uintptr_t>) { ++pinned; };
  for (int i = 0; i < 3; ++i) stacks.intern(Words{1, 2}, pin);
  EXPECT_EQ(pinned, 1);
}

TEST(Stacks, InternersDoNotShareTheThreadsCache) {
  StackInterner one;
  StackInterner other;
  one.intern(Words{9}, kNoPin);
  one.intern(Words{1, 2}, kNoPin);
  const StackId id = other.intern(Words{1, 2}, kNoPin);
  EXPECT_EQ(other.words(id).size(), 2u);
  EXPECT_EQ(id, 1u);
}

TEST(Stacks, ThreadsAgree) {
  StackInterner stacks;
  constexpr int kThreads = 4;
  constexpr std::uintptr_t kStacks = 500;
  std::vector<std::vector<StackId>> ids(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uintptr_t i = 0; i < kStacks; ++i)
        ids[t].push_back(stacks.intern(Words{i, i + 1}, kNoPin));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stacks.size(), kStacks);
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(ids[t], ids[0]);
}

}  // namespace
}  // namespace devsan::trace
