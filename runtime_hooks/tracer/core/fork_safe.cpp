// The list of all fork-safe mutexes and the handlers of pthread_atfork.
#include "core/fork_safe.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace devsan::trace {
namespace {

// Never destroyed: threads may still run ops while the process ends.
struct Registry {
  std::mutex mutex;
  std::vector<ForkSafeMutex*> all;
};

Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

// In the order of their construction. No code holds two of these mutexes at once, so any order
// does.
void before_fork() {
  registry().mutex.lock();
  for (ForkSafeMutex* mutex : registry().all) mutex->lock();
}

std::atomic<std::uint32_t> generation{0};

void after_fork() {
  for (ForkSafeMutex* mutex : registry().all) mutex->unlock();
  registry().mutex.unlock();
}

void in_child() {
  generation.fetch_add(1, std::memory_order_relaxed);
  after_fork();
}

}  // namespace

std::uint32_t fork_generation() {
  return generation.load(std::memory_order_relaxed);
}

ForkSafeMutex::ForkSafeMutex() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(before_fork, after_fork, in_child); });
  std::lock_guard lock(registry().mutex);
  registry().all.push_back(this);
}

ForkSafeMutex::~ForkSafeMutex() {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().all, this);
}

}  // namespace devsan::trace
