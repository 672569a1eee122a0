// How a rank waits for others: it looks a short while, then sleeps on a futex in the shared
// segment, and never longer than a moment without asking whether what it waits for can still come.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace devsan::sim::nccl {

// How often a sleeping rank looks whether its peers' processes are still there.
inline constexpr std::chrono::milliseconds kSleep{50};

// Sleeps while `word` is `seen`, at most kSleep. False if that time passed.
bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen);

// Wakes everyone who sleeps on `word`, in any process.
void wake(std::atomic<std::uint32_t>& word);

// How often to look before sleeping. A rank that spins on a core which its peer needs makes both
// wait, so with more ranks than cores there is no spinning.
int spin_count(int ranks);
void pause();

// Waits until `ready()`; `word` changes, and is woken, whenever the answer may have changed.
// `check(slept)` throws when waiting on makes no sense; `slept` is true after kSleep went by. A
// peer may answer and end between the two questions, so `check` asks `ready` again before it
// throws.
template <typename Ready, typename Check>
void wait_until(std::atomic<std::uint32_t>& word, int spins, Ready&& ready, Check&& check) {
  for (int i = 0; i < spins; ++i) {
    if (ready()) return;
    pause();
  }
  bool slept = false;
  while (true) {
    const std::uint32_t seen = word.load();
    if (ready()) return;
    check(slept);
    slept = !sleep_on(word, seen);
  }
}

}  // namespace devsan::sim::nccl
