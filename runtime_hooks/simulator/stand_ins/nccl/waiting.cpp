// Futexes.
#include "simulator/stand_ins/nccl/waiting.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <thread>

namespace devsan::sim::nccl {
namespace {

// About 20 microseconds: longer than a peer that is running needs to answer, shorter than it takes
// to notice.
constexpr int kSpins = 500;

// The kernel's futexes are 32-bit words.
std::uint32_t* address(std::atomic<std::uint32_t>& word) {
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(&word);
}

}  // namespace

bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(kSleep).count();
  const timespec timeout{0, static_cast<long>(nanoseconds)};
  // Without FUTEX_PRIVATE_FLAG: the waker may be another process.
  const long result = syscall(SYS_futex, address(word), FUTEX_WAIT, seen, &timeout, nullptr, 0);
  return result == 0 || errno != ETIMEDOUT;
}

void wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, address(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

int spin_count(int ranks) {
  static const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return ranks <= cores ? kSpins : 0;
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace devsan::sim::nccl
