// A mutex that is free in the child of a fork.
//
// Data loaders fork workers at any time; a lock that another thread holds at that moment would
// never be released in the child, and the first op there would wait for ever. All mutexes of this
// kind are taken before a fork and released on both sides after it.
#pragma once

#include <cstdint>
#include <mutex>

namespace devsan::trace {

class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// How many forks lie between the process that began and this one: what a parent counted is not its
// child's.
std::uint32_t fork_generation();

}  // namespace devsan::trace
