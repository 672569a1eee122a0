// The memory that the ranks of one communicator share, and how they find it.
//
// It is a memfd: no name in a file system, so nothing is left behind however a rank ends, and the
// size of /dev/shm (64 MB in a container) does not matter. Its pages exist once they are touched.
// The process that makes the unique id holds it open; ranks open it as /proc/<pid>/fd/<number>, and
// keep only their mapping.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "simulator/core/config.h"
#include "simulator/stand_ins/nccl/call.h"

namespace devsan::sim::nccl {

// Two ranks cannot share a device, so a machine has no more of them.
inline constexpr int kMaxRanks = kMaxDevices;

// What a rank stages of its data in one round of a collective, and what waits in the mailbox from
// one rank to another; data of any size goes through in pieces. A round makes ranks wait for each
// other, which is dear where other programs want the cores too, so that the first bucket of DDP
// (1 MiB) takes one.
inline constexpr std::size_t kStageBytes = std::size_t{2} << 20;
inline constexpr std::size_t kMailboxBytes = std::size_t{64} << 10;

// Where a segment is: the content of an ncclUniqueId.
struct SegmentId {
  std::uint64_t mark = 0;  // tells an id from arbitrary bytes
  std::int64_t process = 0;
  std::uint64_t process_start = 0;  // as in ProcessId
  std::int64_t descriptor = -1;
  std::uint64_t nonce = 0;

  bool operator==(const SegmentId&) const = default;
};

// A process that cannot be mistaken for a later one with the same number.
struct ProcessId {
  std::int64_t pid = 0;
  std::uint64_t start = 0;  // clock ticks after boot
};
ProcessId this_process();
// False once it ended, also while nobody has reaped it.
bool is_running(const ProcessId& process);

enum class Presence : std::uint32_t { kAbsent, kJoining, kPresent, kLeft };

struct alignas(64) RankState {
  std::atomic<Presence> presence;
  // A futex, raised whenever a peer moves one of this rank's messages.
  std::atomic<std::uint32_t> doorbell;
  ProcessId process;
  std::int32_t physical_device;
  // What each of two rounds in turn is about; see Communicator::round.
  Call posted[2];
  // What the rank is in at this moment: a Call in two words.
  std::atomic<std::uint64_t> now_what;
  std::atomic<std::uint64_t> now_count;
  // It is a send or a receive that cannot go on before its peer does its part.
  std::atomic<bool> blocked;
};

// A ring of bytes with one writer and one reader; positions only grow.
struct alignas(64) Mailbox {
  std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::byte bytes[kMailboxBytes];
};

// A memfd begins as zeros, so zero is the initial state of everything here.
struct SegmentHeader {
  std::atomic<std::uint64_t> nonce;
  std::atomic<std::int32_t> ranks;  // 0 until the first rank joins
  // The barrier of all ranks: the last to arrive raises the generation, a futex.
  alignas(64) std::atomic<std::int32_t> arrived;
  alignas(64) std::atomic<std::uint32_t> generation;
  // Why the communicator is of no more use, told by the first rank to find out.
  alignas(64) std::atomic<std::uint32_t> failure_state;  // 0 none, 1 being written, 2 there
  std::int32_t failure_result;
  char failure_text[1024];
  // Id of the communicator that the ranks which are left make of this one; the count of them is a
  // futex.
  std::atomic<std::uint32_t> shrinks;
  SegmentId shrink_id;
  RankState rank[kMaxRanks];
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::is_trivially_copyable_v<SegmentId> && std::is_trivially_copyable_v<Call>);

// A new segment that this process holds open for others to find, until release_segment. Throws
// Failure.
SegmentId create_segment();
// Once all ranks have mapped it. Does nothing in a process that did not create it.
void release_segment(const SegmentId& id);

// A mapping. All methods may be called from any thread.
class Segment {
 public:
  // Throws Failure if the segment is gone or cannot be mapped.
  Segment(const SegmentId& id, int ranks);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  SegmentHeader& header() const { return *static_cast<SegmentHeader*>(base_); }
  // kStageBytes for each rank, those of all ranks one after another; a set for every second round.
  std::byte* stage(int half, int rank) const;
  Mailbox& mailbox(int from, int to) const;

 private:
  int ranks_;
  std::size_t bytes_ = 0;
  void* base_ = nullptr;
};

}  // namespace devsan::sim::nccl
