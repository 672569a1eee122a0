// One rank's end of a communicator: how it joins, how it keeps in step with the others, and how it
// learns that they differ, are gone or do not come.
//
// Calls block: the data has arrived when the call that asks for it returns, as all work of the
// simulator is done before it returns. So an error comes up at the line that made the call. It does
// not wait for longer than NCCL would have its kernels wait: calls of one communicator run in order
// there too, communicators of two threads know nothing of each other here, and what a group holds
// makes progress together (group.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/stand_ins/nccl/failure.h"
#include "simulator/stand_ins/nccl/segment.h"
#include "simulator/stand_ins/nccl/waiting.h"

namespace devsan::sim::nccl {

// A premultiplied sum that a program made: each rank multiplies its data by its own number.
struct PreMul {
  ncclDataType_t type = ncclFloat32;
  std::byte immediate[8] = {};
  const void* on_device = nullptr;  // read when the reduction runs; null if `immediate` holds it

  const void* scalar() const { return on_device != nullptr ? on_device : immediate; }
};

// One thread at a time may be in a call, as in NCCL; abort() and async_error() may be called from
// any other.
class Communicator {
 public:
  // Waits until all ranks have joined. Throws Failure: no such communicator, two ranks on one
  // device, a rank that does not come.
  Communicator(const SegmentId& id, int ranks, int rank, int device);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int device() const { return device_; }
  Segment& segment() { return segment_; }

  // Begins a call: throws what ended the communicator, if something did.
  void begin(const Call& call);
  void end();

  // A round: every rank stages data in stage(half), then all wait for each other, then every rank
  // reads what the others staged. The two halves are used in turn: who has passed the barrier of a
  // round knows that nobody reads any longer what was staged in the one before. So one barrier a
  // round is enough.
  // Returns the half to stage in.
  int start_round();
  // The barrier. In the first round of a call, `call` is compared with that of the other ranks:
  // throws Failure(ncclInvalidUsage), on all of them, if they differ.
  void meet(const Call* call);

  // How often peers have moved this rank's messages, and a sleep until they move one again; throws
  // if one of `peers` is gone, or none of them moves. `first` is the first that is not complete.
  std::uint32_t messages_moved() { return state(rank_).doorbell.load(); }
  void wait_for_messages(std::uint32_t seen, const Call& first, std::span<const int> peers);
  // Tells a peer that one of its messages moved.
  void ring(int peer);

  // Makes the communicator unusable for all ranks, who learn why.
  [[noreturn]] void fail(ncclResult_t result, const std::string& text);

  // From another thread: a call that waits ends, and so do those of the peers.
  void abort();
  ncclResult_t async_error() const { return async_error_.load(); }

  ncclRedOp_t add_premul(const PreMul& premul);
  void remove_premul(ncclRedOp_t op);
  // Throws Failure(ncclInvalidArgument) for an operator of another communicator.
  PreMul premul(ncclRedOp_t op, const char* function);

  // What each rank gives, as all ranks get it: `bytes` from each, at most kStageBytes.
  std::vector<std::byte> exchange(const Call& call, const void* data, std::size_t bytes);
  // The id that the lowest of `survivors` makes for them.
  SegmentId agree_on_shrunk(std::span<const int> survivors);

 private:
  SegmentHeader& header() { return segment_.header(); }
  RankState& state(int rank) { return header().rank[rank]; }
  void join();
  void refuse_duplicate_devices();
  void leave();
  void throw_if_failed();
  // A peer is in a send or a receive that this rank would have to serve first.
  bool is_blocked_by_me(int peer);
  void wake_all();

  // What `wait_until` asks while a rank waits for `peers`; throws if they cannot come.
  class Patience;

  const int rank_;
  const int ranks_;
  const int device_;
  const int spins_;
  const std::chrono::seconds timeout_;
  Segment segment_;
  std::uint64_t rounds_ = 0;
  std::uint32_t shrinks_ = 0;
  std::vector<int> everyone_else_;
  Call call_;  // that this rank is in
  std::atomic<bool> aborted_{false};
  std::atomic<ncclResult_t> async_error_{ncclSuccess};

  std::mutex premul_mutex_;
  std::unordered_map<int, PreMul> premuls_;
  int next_premul_;
};

}  // namespace devsan::sim::nccl
