// Sends and receives through the mailboxes of the segment. A message is its Call, then its bytes:
// the receiver compares what was sent with what it expects.
#include <algorithm>
#include <cstring>

#include "simulator/stand_ins/nccl/work.h"

namespace devsan::sim::nccl {
namespace {

// Moves up to `bytes` into or out of the ring; how many it moved.
std::size_t put(Mailbox& mailbox, const std::byte* from, std::size_t bytes) {
  const std::uint64_t written = mailbox.written.load(std::memory_order_relaxed);
  const std::size_t room = kMailboxBytes - (written - mailbox.read.load(std::memory_order_acquire));
  const std::size_t moved = std::min(bytes, room);
  const std::size_t at = written % kMailboxBytes;
  const std::size_t first = std::min(moved, kMailboxBytes - at);
  std::memcpy(mailbox.bytes + at, from, first);
  std::memcpy(mailbox.bytes, from + first, moved - first);
  mailbox.written.store(written + moved, std::memory_order_release);
  return moved;
}

std::size_t get(Mailbox& mailbox, std::byte* to, std::size_t bytes) {
  const std::uint64_t read = mailbox.read.load(std::memory_order_relaxed);
  const std::size_t there = mailbox.written.load(std::memory_order_acquire) - read;
  const std::size_t moved = std::min(bytes, there);
  const std::size_t at = read % kMailboxBytes;
  const std::size_t first = std::min(moved, kMailboxBytes - at);
  std::memcpy(to, mailbox.bytes + at, first);
  std::memcpy(to + first, mailbox.bytes, moved - first);
  mailbox.read.store(read + moved, std::memory_order_release);
  return moved;
}

class Message {
 public:
  explicit Message(const Work& work)
      : work_(&work), head_(work.call), total_(sizeof(Call) + work.bytes()) {}

  const Call& call() const { return work_->call; }
  int peer() const { return work_->call.root; }
  bool sends() const { return work_->call.function == Function::kSend; }
  bool complete() const { return done_ == total_; }

  // As far as it goes now. True if anything moved; then the peer is told.
  bool progress(Communicator& communicator) {
    const std::size_t before = done_;
    if (done_ < sizeof(Call)) {
      move(communicator, reinterpret_cast<std::byte*>(&head_) + done_, sizeof(Call) - done_);
      if (done_ == sizeof(Call) && !sends()) check(communicator);
    }
    if (done_ >= sizeof(Call) && done_ < total_) {
      const std::size_t offset = done_ - sizeof(Call);
      auto* const data =
          static_cast<std::byte*>(sends() ? const_cast<void*>(work_->send) : work_->receive);
      move(communicator, data + offset, total_ - done_);
    }
    if (done_ == before) return false;
    communicator.ring(peer());
    return true;
  }

 private:
  void move(Communicator& communicator, std::byte* data, std::size_t bytes) {
    Segment& segment = communicator.segment();
    done_ += sends() ? put(segment.mailbox(communicator.rank(), peer()), data, bytes)
                     : get(segment.mailbox(peer(), communicator.rank()), data, bytes);
  }

  // `head_` now holds what the peer sent.
  void check(Communicator& communicator) {
    if (head_.count == work_->call.count && head_.datatype == work_->call.datatype) return;
    communicator.fail(
        ncclInvalidUsage,
        "devsan simulator: what is sent and what is received must be the same: rank " +
            std::to_string(peer()) + " called " + describe(head_) + "; rank " +
            std::to_string(communicator.rank()) + " called " + describe(work_->call));
  }

  const Work* work_;
  Call head_;
  std::size_t total_;
  std::size_t done_ = 0;
};

}  // namespace

void run_messages(Communicator& communicator, const std::vector<const Work*>& messages) {
  std::vector<Message> open;
  for (const Work* work : messages) open.emplace_back(*work);
  std::vector<int> peers;
  while (!open.empty()) {
    const std::uint32_t seen = communicator.messages_moved();
    bool moved = false;
    peers.clear();
    // Peers to which an earlier message is still on its way, and from which: a later one waits.
    std::uint64_t sending = 0;
    std::uint64_t receiving = 0;
    static_assert(kMaxRanks <= 64);
    for (Message& message : open) {
      const std::uint64_t bit = std::uint64_t{1} << message.peer();
      std::uint64_t& busy = message.sends() ? sending : receiving;
      if ((busy & bit) != 0) continue;
      moved = message.progress(communicator) || moved;
      if (!message.complete()) {
        busy |= bit;
        peers.push_back(message.peer());
      }
    }
    std::erase_if(open, [](const Message& message) { return message.complete(); });
    if (!moved && !open.empty()) communicator.wait_for_messages(seen, open.front().call(), peers);
  }
}

}  // namespace devsan::sim::nccl
