// One ring a thread, written without a lock by its thread.
#include "observer/forward_sites.h"

#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/fork_safe.h"
#include "observer/compat.h"

namespace devsan::trace {
namespace {

constexpr std::size_t kRing = std::size_t{1} << 16;
constexpr std::int64_t kLookBack = 4;

using Ring = std::vector<ForwardSite>;

// Rings outlive their threads: a backward pass may come later, in another thread. Those of threads
// that ended are used again once there are more than a few.
struct Rings {
  static constexpr std::size_t kMaxEnded = 16;

  ForkSafeMutex mutex;
  std::unordered_map<std::uint64_t, Ring*> by_thread;
  std::vector<std::uint64_t> ended;  // oldest first
};

Rings& rings() {
  static auto* instance = new Rings;
  return *instance;
}

class OwnRing {
 public:
  OwnRing() : thread_(at::RecordFunction::currentThreadId()) {
    std::lock_guard lock(rings().mutex);
    if (rings().ended.size() > Rings::kMaxEnded) {
      const std::uint64_t oldest = rings().ended.front();
      rings().ended.erase(rings().ended.begin());
      ring_ = rings().by_thread[oldest];
      rings().by_thread.erase(oldest);
      ring_->assign(kRing, {});
    } else {
      ring_ = new Ring(kRing);
    }
    rings().by_thread[thread_] = ring_;
  }
  ~OwnRing() {
    std::lock_guard lock(rings().mutex);
    rings().ended.push_back(thread_);
  }
  OwnRing(const OwnRing&) = delete;
  OwnRing& operator=(const OwnRing&) = delete;

  Ring& ring() { return *ring_; }

 private:
  std::uint64_t thread_;
  Ring* ring_;
};

}  // namespace

void record_forward_site(std::int64_t sequence, const char* op, const Site& site) {
  static thread_local OwnRing own;
  own.ring()[static_cast<std::size_t>(sequence) % kRing] = {sequence, op, site};
}

ForwardSite forward_site(std::uint64_t thread, std::int64_t sequence) {
  std::lock_guard lock(rings().mutex);
  const auto found = rings().by_thread.find(thread);
  if (found == rings().by_thread.end()) return {};
  for (std::int64_t at = sequence; at >= 0 && at > sequence - kLookBack; --at) {
    const ForwardSite& entry = (*found->second)[static_cast<std::size_t>(at) % kRing];
    if (entry.sequence == at) return entry;
  }
  return {};
}

}  // namespace devsan::trace
