// The collectives, in rounds over the staging area: data of any size goes through it piece by
// piece.
//
// Ranks are added up in their order, 0 first, wherever that is done: all ranks get the same bits,
// run after run.
#include <algorithm>
#include <cstring>

#include "simulator/stand_ins/nccl/reduce.h"
#include "simulator/stand_ins/nccl/work.h"

namespace devsan::sim::nccl {
namespace {

// Pieces begin where any type may be read in place, and vectors too.
constexpr std::size_t kAlignment = 64;

// Up to here every rank reduces everything by itself: cheaper than a second barrier. Between two
// ranks that is always so.
constexpr std::size_t kSmallReduction = std::size_t{8} << 10;
constexpr int kFewRanks = 2;

std::size_t aligned_down(std::size_t bytes) {
  return bytes / kAlignment * kAlignment;
}

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  // Without bytes the pointers may be null, which memcpy does not allow.
  if (bytes != 0 && to != from) std::memmove(to, from, bytes);
}

class Collective {
 public:
  explicit Collective(const Work& work)
      : work_(work),
        communicator_(*work.communicator),
        ranks_(communicator_.ranks()),
        rank_(communicator_.rank()),
        bytes_(work.bytes()),
        element_(element_size(work.type())) {}

  void run() {
    switch (work_.call.function) {
      case Function::kAllReduce:
      case Function::kReduce:
        return reduce();
      case Function::kReduceScatter:
        return reduce_scatter();
      case Function::kBroadcast:
        return broadcast();
      case Function::kAllGather:
      case Function::kGather:
        return gather();
      case Function::kAlltoAll:
        return all_to_all();
      case Function::kScatter:
        return scatter();
      default:
        throw Failure(ncclInternalError, "devsan simulator: not a collective");
    }
  }

 private:
  // Rounds over `bytes_` in pieces of at most `piece` bytes; one round even for no bytes, in which
  // the ranks find out whether they all make this call. `give` stages a piece before the barrier,
  // `take` reads it afterwards: each gets the half, the piece's offset and its bytes.
  template <typename Give, typename Take>
  void in_pieces(std::size_t piece, Give&& give, Take&& take) {
    std::size_t offset = 0;
    do {
      const std::size_t bytes = std::min(piece, bytes_ - offset);
      const int half = communicator_.start_round();
      give(half, offset, bytes);
      communicator_.meet(offset == 0 ? &work_.call : nullptr);
      take(half, offset, bytes);
      offset += bytes;
    } while (offset < bytes_);
  }

  std::byte* stage(int half, int rank) { return communicator_.segment().stage(half, rank); }
  const std::byte* sent(std::size_t offset) const {
    return static_cast<const std::byte*>(work_.send) + offset;
  }
  std::byte* received(std::size_t offset) const {
    return static_cast<std::byte*>(work_.receive) + offset;
  }
  std::size_t block(int rank) const { return static_cast<std::size_t>(rank) * bytes_; }
  bool at_root() const { return rank_ == work_.call.root; }
  // A piece of which a rank stages one part for each rank.
  std::size_t part() const { return aligned_down(kStageBytes / static_cast<std::size_t>(ranks_)); }

  // Stages this rank's operand of a reduction.
  void give_operand(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes == 0) return;
    if (work_.premul) {
      premultiply(to, from, bytes / element_, work_.type(), work_.premul->scalar());
    } else if (work_.call.reduction == Reduction::kAvg) {
      copy_for_average(to, from, bytes / element_, work_.type(), ranks_);
    } else {
      std::memcpy(to, from, bytes);
    }
  }

  // Reduces [from, to) of what all ranks staged into `into`, which may be where rank 0 staged it.
  void reduce_staged(int half, std::size_t from, std::size_t to, std::byte* into) {
    const std::size_t elements = (to - from) / element_;
    copy_bytes(into, stage(half, 0) + from, to - from);
    for (int rank = 1; rank < ranks_; ++rank) {
      combine(into, stage(half, rank) + from, elements, work_.type(), work_.call.reduction);
    }
    if (work_.call.reduction == Reduction::kAvg) {
      finish_average(into, elements, work_.type(), ranks_);
    }
  }

  void reduce() {
    const bool wanted = work_.call.function == Function::kAllReduce || at_root();
    in_pieces(
        kStageBytes,
        [&](int half, std::size_t offset, std::size_t bytes) {
          give_operand(stage(half, rank_), sent(offset), bytes);
        },
        [&](int half, std::size_t offset, std::size_t bytes) {
          if (bytes <= kSmallReduction || ranks_ <= kFewRanks) {
            if (!wanted) return;
            // In bits that stay in the cache, and that are aligned wherever the data goes.
            alignas(kAlignment) std::byte result[kSmallReduction];
            for (std::size_t from = 0; from < bytes; from += kSmallReduction) {
              const std::size_t to = std::min(bytes, from + kSmallReduction);
              reduce_staged(half, from, to, result);
              copy_bytes(received(offset + from), result, to - from);
            }
            return;
          }
          // Each rank reduces a share of the piece, over what rank 0 staged; then all copy it.
          const std::size_t share =
              aligned_down(bytes / static_cast<std::size_t>(ranks_)) + kAlignment;
          const std::size_t from = std::min(bytes, static_cast<std::size_t>(rank_) * share);
          const std::size_t to = std::min(bytes, from + share);
          reduce_staged(half, from, to, stage(half, 0) + from);
          communicator_.meet(nullptr);
          if (wanted) copy_bytes(received(offset), stage(half, 0), bytes);
        });
  }

  void reduce_scatter() {
    in_pieces(
        part(),
        [&](int half, std::size_t offset, std::size_t bytes) {
          for (int to = 0; to < ranks_; ++to) {
            give_operand(stage(half, rank_) + part() * static_cast<std::size_t>(to),
                         sent(block(to) + offset), bytes);
          }
        },
        [&](int half, std::size_t offset, std::size_t bytes) {
          // Nobody else reads this rank's part, so its result may lie there.
          const std::size_t mine = part() * static_cast<std::size_t>(rank_);
          reduce_staged(half, mine, mine + bytes, stage(half, 0) + mine);
          copy_bytes(received(offset), stage(half, 0) + mine, bytes);
        });
  }

  void broadcast() {
    in_pieces(
        // The stages of all ranks lie one behind the other, and the root may use them all.
        kStageBytes * static_cast<std::size_t>(ranks_),
        [&](int half, std::size_t offset, std::size_t bytes) {
          if (at_root()) copy_bytes(stage(half, 0), sent(offset), bytes);
        },
        [&](int half, std::size_t offset, std::size_t bytes) {
          copy_bytes(received(offset), at_root() ? sent(offset) : stage(half, 0), bytes);
        });
  }

  void gather() {
    const bool wanted = work_.call.function == Function::kAllGather || at_root();
    in_pieces(
        kStageBytes,
        [&](int half, std::size_t offset, std::size_t bytes) {
          copy_bytes(stage(half, rank_), sent(offset), bytes);
        },
        [&](int half, std::size_t offset, std::size_t bytes) {
          if (!wanted) return;
          for (int from = 0; from < ranks_; ++from) {
            copy_bytes(received(block(from) + offset),
                       from == rank_ ? sent(offset) : stage(half, from), bytes);
          }
        });
  }

  void all_to_all() {
    in_pieces(
        part(),
        [&](int half, std::size_t offset, std::size_t bytes) {
          for (int to = 0; to < ranks_; ++to) {
            copy_bytes(stage(half, rank_) + part() * static_cast<std::size_t>(to),
                       sent(block(to) + offset), bytes);
          }
        },
        [&](int half, std::size_t offset, std::size_t bytes) {
          for (int from = 0; from < ranks_; ++from) {
            copy_bytes(received(block(from) + offset),
                       stage(half, from) + part() * static_cast<std::size_t>(rank_), bytes);
          }
        });
  }

  void scatter() {
    in_pieces(
        kStageBytes,
        [&](int half, std::size_t offset, std::size_t bytes) {
          if (!at_root()) return;
          for (int to = 0; to < ranks_; ++to)
            copy_bytes(stage(half, to), sent(block(to) + offset), bytes);
        },
        [&](int half, std::size_t offset, std::size_t bytes) {
          copy_bytes(received(offset), stage(half, rank_), bytes);
        });
  }

  const Work& work_;
  Communicator& communicator_;
  const int ranks_;
  const int rank_;
  const std::size_t bytes_;
  const std::size_t element_;
};

}  // namespace

void run_collective(const Work& work) {
  Collective(work).run();
}

}  // namespace devsan::sim::nccl
