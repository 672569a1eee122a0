// Joining, rounds, waiting and failing.
#include "simulator/stand_ins/nccl/communicator.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "simulator/core/machine.h"

namespace devsan::sim::nccl {
namespace {

constexpr char kMustAgree[] =
    "devsan simulator: the ranks of a communicator must make the same call: ";

constexpr std::uint32_t kNoFailure = 0;
constexpr std::uint32_t kFailureInWriting = 1;
constexpr std::uint32_t kFailureTold = 2;

// NCCL's number for a PCI address: the digits of "0000:10:00.0" read as one hexadecimal number.
std::int64_t bus_id(int physical_device) {
  return static_cast<std::int64_t>(kFirstPciBus + physical_device) << 12;
}

// Handles of operators that programs make are unique in the process, so that one of another
// communicator is recognised.
int first_premul_handle() {
  constexpr int kPerCommunicator = 1 << 12;
  static std::atomic<int> communicators{0};
  constexpr int kBlocks = (ncclMaxRedOp - ncclNumOps) / kPerCommunicator;
  return ncclNumOps + (communicators.fetch_add(1) % kBlocks) * kPerCommunicator;
}

void show_now(RankState& state, const Call& call) {
  std::uint64_t what = 0;
  std::memcpy(&what, &call, sizeof what);
  state.now_what.store(what, std::memory_order_relaxed);
  state.now_count.store(call.count, std::memory_order_relaxed);
}

Call shown_now(const RankState& state) {
  Call call;
  const std::uint64_t what = state.now_what.load(std::memory_order_relaxed);
  std::memcpy(static_cast<void*>(&call), &what, sizeof what);
  call.count = state.now_count.load(std::memory_order_relaxed);
  return call;
}
static_assert(offsetof(Call, count) == sizeof(std::uint64_t));

}  // namespace

class Communicator::Patience {
 public:
  Patience(Communicator& communicator, std::span<const int> peers)
      : communicator_(communicator), peers_(peers), start_(std::chrono::steady_clock::now()) {}

  // `ready` is asked again once a peer is seen to have gone: what it did before counts.
  template <typename Ready>
  void check(bool slept, Ready&& ready) {
    if (communicator_.aborted_.load()) {
      // Told to the peers too: this rank may have been counted already in what they wait for.
      communicator_.fail(ncclRemoteError, "devsan simulator: " + me() +
                                              " aborted its communicator in " +
                                              describe(communicator_.call_));
    }
    if (!ready()) communicator_.throw_if_failed();
    for (const int peer : peers_) {
      const Presence presence = communicator_.state(peer).presence.load();
      const bool gone =
          presence == Presence::kLeft || (slept && presence == Presence::kPresent &&
                                          !is_running(communicator_.state(peer).process));
      if (gone && !ready()) {
        communicator_.fail(ncclRemoteError, text_of_gone(peer, presence));
      }
    }
    // In a collective this rank serves no messages, and the peer comes to no collective before.
    for (const int peer : peers_) {
      if (!slept || is_message(communicator_.call_) || !communicator_.is_blocked_by_me(peer))
        continue;
      if (ready()) continue;
      communicator_.fail(ncclInvalidUsage, text_of_mismatch(peer));
    }
    if (slept && std::chrono::steady_clock::now() - start_ > communicator_.timeout_ && !ready()) {
      communicator_.fail(ncclRemoteError, text_of_timeout());
    }
  }

 private:
  std::string me() const { return "rank " + std::to_string(communicator_.rank_); }

  std::string text_of_gone(int peer, Presence presence) const {
    const std::string pid = std::to_string(communicator_.state(peer).process.pid);
    return "devsan simulator: " + me() + " waits in " + describe(communicator_.call_) +
           " for rank " + std::to_string(peer) + " (pid " + pid + "), " +
           (presence == Presence::kLeft ? "which has destroyed or aborted its communicator"
                                        : "whose process has ended");
  }

  std::string text_of_mismatch(int peer) const {
    return std::string(kMustAgree) + me() + " called " + describe(communicator_.call_) + "; rank " +
           std::to_string(peer) + " called " + describe(shown_now(communicator_.state(peer)));
  }

  std::string text_of_timeout() const {
    std::string text = "devsan simulator: " + me() + " waited " +
                       std::to_string(communicator_.timeout_.count()) + " s in " +
                       describe(communicator_.call_) + " (the option nccl_timeout)";
    for (const int peer : peers_) {
      const RankState& state = communicator_.state(peer);
      const Call call = shown_now(state);
      text += "; rank " + std::to_string(peer) +
              (state.presence.load() == Presence::kAbsent ? " has not joined"
               : call.function == Function::kNone         ? " is in no call of NCCL"
                                                          : " is in " + describe(call));
    }
    return text;
  }

  Communicator& communicator_;
  std::span<const int> peers_;
  std::chrono::steady_clock::time_point start_;
};

Communicator::Communicator(const SegmentId& id, int ranks, int rank, int device)
    : rank_(rank),
      ranks_(ranks),
      device_(device),
      spins_(spin_count(ranks)),
      timeout_(machine().config().nccl_timeout),
      segment_(id, ranks),
      next_premul_(first_premul_handle()) {
  for (int other = 0; other < ranks; ++other) {
    if (other != rank) everyone_else_.push_back(other);
  }
  call_.function = Function::kInit;
  call_.count = static_cast<std::uint64_t>(ranks);
  std::int32_t expected = 0;
  if (!header().ranks.compare_exchange_strong(expected, ranks) && expected != ranks) {
    throw Failure(ncclInvalidArgument, "devsan simulator: rank " + std::to_string(rank) +
                                           " joins a communicator of " + std::to_string(ranks) +
                                           " ranks; others made one of " +
                                           std::to_string(expected));
  }
  Presence absent = Presence::kAbsent;
  if (!state(rank).presence.compare_exchange_strong(absent, Presence::kJoining)) {
    throw Failure(ncclInvalidUsage, "devsan simulator: rank " + std::to_string(rank) +
                                        " joined this communicator twice");
  }
  try {
    join();
  } catch (const Failure&) {
    leave();
    throw;
  }
}

Communicator::~Communicator() {
  leave();
}

void Communicator::join() {
  RankState& mine = state(rank_);
  mine.process = this_process();
  mine.physical_device = machine().physical(device_);
  show_now(mine, call_);
  mine.presence.store(Presence::kPresent);
  start_round();
  meet(nullptr);
  refuse_duplicate_devices();
  show_now(mine, Call{});
}

void Communicator::refuse_duplicate_devices() {
  const auto pair_with = [&](int a) {
    for (int b = 0; b < ranks_; ++b) {
      if (b != a && state(b).physical_device == state(a).physical_device) return b;
    }
    return -1;
  };
  // A rank speaks of itself first, as in NCCL; one that has a device of its own of the first pair.
  int first = rank_;
  int second = pair_with(rank_);
  for (int a = 0; a < ranks_ && second < 0; ++a) {
    first = a;
    second = pair_with(a);
  }
  if (second < 0) return;
  char text[128];
  std::snprintf(text, sizeof text,
                "Duplicate GPU detected : rank %d and rank %d both on CUDA device %" PRIx64, first,
                second, static_cast<std::uint64_t>(bus_id(state(first).physical_device)));
  throw Failure(ncclInvalidUsage, text);
}

void Communicator::leave() {
  state(rank_).presence.store(Presence::kLeft);
  wake_all();
}

void Communicator::wake_all() {
  wake(header().generation);
  wake(header().shrinks);
  for (int rank = 0; rank < ranks_; ++rank) wake(state(rank).doorbell);
}

void Communicator::begin(const Call& call) {
  if (aborted_.load()) {
    throw Failure(ncclInvalidUsage,
                  "devsan simulator: " + describe(call) + " on a communicator that was aborted");
  }
  throw_if_failed();
  call_ = call;
  show_now(state(rank_), call);
}

void Communicator::end() {
  show_now(state(rank_), Call{});
}

int Communicator::start_round() {
  return static_cast<int>(++rounds_ % 2);
}

void Communicator::meet(const Call* call) {
  const auto half = rounds_ % 2;
  if (call != nullptr) state(rank_).posted[half] = *call;
  SegmentHeader& shared = header();
  const std::uint32_t generation = shared.generation.load();
  if (shared.arrived.fetch_add(1) + 1 == ranks_) {
    shared.arrived.store(0);
    shared.generation.store(generation + 1);
    wake(shared.generation);
  } else {
    const auto ready = [&] { return shared.generation.load() != generation; };
    Patience patience(*this, everyone_else_);
    wait_until(shared.generation, spins_, ready, [&](bool slept) { patience.check(slept, ready); });
  }
  if (call == nullptr) return;
  const auto differs = [&](int rank) { return state(rank).posted[half] != *call; };
  if (std::none_of(everyone_else_.begin(), everyone_else_.end(), differs)) return;
  std::vector<Call> calls;
  for (int rank = 0; rank < ranks_; ++rank) calls.push_back(state(rank).posted[half]);
  fail(ncclInvalidUsage, kMustAgree + describe_by_rank(calls));
}

void Communicator::wait_for_messages(std::uint32_t seen, const Call& first,
                                     std::span<const int> peers) {
  RankState& mine = state(rank_);
  const auto ready = [&] { return mine.doorbell.load() != seen; };
  call_ = first;
  show_now(mine, first);
  mine.blocked.store(true);
  Patience patience(*this, peers);
  wait_until(mine.doorbell, spins_, ready, [&](bool slept) { patience.check(slept, ready); });
  mine.blocked.store(false);
}

bool Communicator::is_blocked_by_me(int peer) {
  // The mailboxes first: a peer that goes on says so before it touches them.
  const Mailbox& to_it = segment_.mailbox(rank_, peer);
  const Mailbox& from_it = segment_.mailbox(peer, rank_);
  const bool empty = to_it.written.load() == to_it.read.load();
  const bool full = from_it.written.load() - from_it.read.load() == kMailboxBytes;
  const RankState& its = state(peer);
  if (!its.blocked.load()) return false;
  const Call call = shown_now(its);
  return call.root == rank_ && ((call.function == Function::kRecv && empty) ||
                                (call.function == Function::kSend && full));
}

void Communicator::ring(int peer) {
  std::atomic<std::uint32_t>& bell = state(peer).doorbell;
  bell.fetch_add(1);
  wake(bell);
}

void Communicator::fail(ncclResult_t result, const std::string& text) {
  SegmentHeader& shared = header();
  std::uint32_t none = kNoFailure;
  if (shared.failure_state.compare_exchange_strong(none, kFailureInWriting)) {
    shared.failure_result = result;
    const std::size_t length = std::min(text.size(), sizeof shared.failure_text - 1);
    std::memcpy(shared.failure_text, text.data(), length);
    shared.failure_text[length] = '\0';
    shared.failure_state.store(kFailureTold);
    wake_all();
  }
  async_error_.store(result);
  throw Failure(result, text);
}

void Communicator::throw_if_failed() {
  SegmentHeader& shared = header();
  if (shared.failure_state.load() != kFailureTold) return;
  const auto result = static_cast<ncclResult_t>(shared.failure_result);
  async_error_.store(result);
  throw Failure(result, shared.failure_text);
}

void Communicator::abort() {
  aborted_.store(true);
  leave();
}

ncclRedOp_t Communicator::add_premul(const PreMul& premul) {
  const std::lock_guard lock(premul_mutex_);
  const int handle = next_premul_++;
  premuls_.emplace(handle, premul);
  return static_cast<ncclRedOp_t>(handle);
}

void Communicator::remove_premul(ncclRedOp_t op) {
  const std::lock_guard lock(premul_mutex_);
  if (premuls_.erase(op) == 0) {
    throw Failure(ncclInvalidArgument, "RedOpDestroy : reduction operation " + std::to_string(op) +
                                           " unknown to this communicator");
  }
}

PreMul Communicator::premul(ncclRedOp_t op, const char* function) {
  const std::lock_guard lock(premul_mutex_);
  const auto found = premuls_.find(op);
  if (found == premuls_.end()) {
    throw Failure(ncclInvalidArgument, std::string(function) + " : reduction operation " +
                                           std::to_string(op) + " unknown to this communicator");
  }
  return found->second;
}

std::vector<std::byte> Communicator::exchange(const Call& call, const void* data,
                                              std::size_t bytes) {
  const int half = start_round();
  std::memcpy(segment_.stage(half, rank_), data, bytes);
  meet(&call);
  std::vector<std::byte> all(bytes * static_cast<std::size_t>(ranks_));
  for (int rank = 0; rank < ranks_; ++rank) {
    std::memcpy(all.data() + static_cast<std::size_t>(rank) * bytes, segment_.stage(half, rank),
                bytes);
  }
  return all;
}

SegmentId Communicator::agree_on_shrunk(std::span<const int> survivors) {
  // Those that are left out do not call, so there is no round to meet in: the lowest survivor puts
  // the id where the others look for it. Nobody overwrites it before all have joined what it names.
  SegmentHeader& shared = header();
  const std::uint32_t mine = ++shrinks_;
  if (survivors.front() == rank_) {
    shared.shrink_id = create_segment();
    shared.shrinks.store(mine);
    wake(shared.shrinks);
    return shared.shrink_id;
  }
  const auto ready = [&] { return shared.shrinks.load() >= mine; };
  const int leader[] = {survivors.front()};
  const auto start = std::chrono::steady_clock::now();
  wait_until(shared.shrinks, spins_, ready, [&](bool slept) {
    // The parent may have failed already: that is what a program shrinks for.
    if (!slept || ready()) return;
    if (!is_running(state(leader[0]).process)) {
      throw Failure(ncclRemoteError, "devsan simulator: rank " + std::to_string(leader[0]) +
                                         ", which was to shrink the communicator, has ended");
    }
    if (std::chrono::steady_clock::now() - start > timeout_) {
      throw Failure(ncclRemoteError, "devsan simulator: rank " + std::to_string(rank_) +
                                         " waited " + std::to_string(timeout_.count()) +
                                         " s in ncclCommShrink for rank " +
                                         std::to_string(leader[0]) + " (the option nccl_timeout)");
    }
  });
  return shared.shrink_id;
}

}  // namespace devsan::sim::nccl
