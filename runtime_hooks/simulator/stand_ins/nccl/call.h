// What a rank asked of a communicator, in a form that ranks can compare and that reads well: the
// ranks of a communicator must all make the same call.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace devsan::sim::nccl {

enum class Function : std::uint8_t {
  kNone,  // the rank is in no call
  kInit,
  kSplit,
  kShrink,
  kAllReduce,
  kBroadcast,
  kReduce,
  kAllGather,
  kReduceScatter,
  kAlltoAll,
  kGather,
  kScatter,
  kSend,
  kRecv,
};

// As ncclRedOp_t, with one value for every operator a program made: its handle and its scalar are
// each rank's own.
enum class Reduction : std::uint8_t { kSum, kProd, kMax, kMin, kAvg, kPreMulSum, kNone };

// Lies in shared memory: no pointers.
struct Call {
  Function function = Function::kNone;
  std::uint8_t datatype = 0;  // ncclDataType_t
  Reduction reduction = Reduction::kNone;
  std::int32_t root = -1;   // of a broadcast and its like; the peer of a send or a receive
  std::uint64_t count = 0;  // elements, as the caller gave it

  bool operator==(const Call&) const = default;
};

inline bool is_message(const Call& call) {
  return call.function == Function::kSend || call.function == Function::kRecv;
}

// Bytes of one element.
std::size_t element_size(ncclDataType_t type);

// "AllReduce", as NCCL's own messages call it.
const char* function_name(Function function);

// "ncclAllReduce(4 elements of float32, sum)".
std::string describe(const Call& call);

// One line for calls that differ, `calls[r]` being that of rank r: "rank 0 called ncclX(...); ranks
// 1-3 called ncclY(...)".
std::string describe_by_rank(std::span<const Call> calls);

// "rank 3", "ranks 0, 2".
std::string list_of_ranks(std::span<const int> ranks);

}  // namespace devsan::sim::nccl
