// Calls as text.
#include "simulator/stand_ins/nccl/call.h"

#include <vector>

namespace devsan::sim::nccl {
namespace {

const char* datatype_name(std::uint8_t type) {
  switch (static_cast<ncclDataType_t>(type)) {
    case ncclInt8:
      return "int8";
    case ncclUint8:
      return "uint8";
    case ncclInt32:
      return "int32";
    case ncclUint32:
      return "uint32";
    case ncclInt64:
      return "int64";
    case ncclUint64:
      return "uint64";
    case ncclFloat16:
      return "float16";
    case ncclFloat32:
      return "float32";
    case ncclFloat64:
      return "float64";
    case ncclBfloat16:
      return "bfloat16";
    case ncclFloat8e4m3:
      return "float8_e4m3";
    case ncclFloat8e5m2:
      return "float8_e5m2";
    case ncclNumTypes:
      break;
  }
  return "an unknown type";
}

const char* reduction_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return "sum";
    case Reduction::kProd:
      return "product";
    case Reduction::kMax:
      return "max";
    case Reduction::kMin:
      return "min";
    case Reduction::kAvg:
      return "average";
    case Reduction::kPreMulSum:
      return "premultiplied sum";
    case Reduction::kNone:
      break;
  }
  return "no reduction";
}

}  // namespace

std::size_t element_size(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
    case ncclNumTypes:
      break;
  }
  return 8;
}

const char* function_name(Function function) {
  switch (function) {
    case Function::kNone:
      return "no call";
    case Function::kInit:
      return "CommInitRank";
    case Function::kSplit:
      return "CommSplit";
    case Function::kShrink:
      return "CommShrink";
    case Function::kAllReduce:
      return "AllReduce";
    case Function::kBroadcast:
      return "Broadcast";
    case Function::kReduce:
      return "Reduce";
    case Function::kAllGather:
      return "AllGather";
    case Function::kReduceScatter:
      return "ReduceScatter";
    case Function::kAlltoAll:
      return "AlltoAll";
    case Function::kGather:
      return "Gather";
    case Function::kScatter:
      return "Scatter";
    case Function::kSend:
      return "Send";
    case Function::kRecv:
      return "Recv";
  }
  return "an unknown call";
}

std::string describe(const Call& call) {
  const std::string name = std::string("nccl") + function_name(call.function);
  if (call.function <= Function::kShrink) return name;
  std::string text = name + "(" + std::to_string(call.count) +
                     (call.count == 1 ? " element of " : " elements of ") +
                     datatype_name(call.datatype);
  if (call.reduction != Reduction::kNone)
    text += std::string(", ") + reduction_name(call.reduction);
  if (call.root >= 0) {
    const char* role = call.function == Function::kSend   ? ", to rank "
                       : call.function == Function::kRecv ? ", from rank "
                                                          : ", root ";
    text += role + std::to_string(call.root);
  }
  return text + ")";
}

std::string list_of_ranks(std::span<const int> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i != 0) text += ", ";
    text += std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? ", " : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string describe_by_rank(std::span<const Call> calls) {
  std::string text;
  std::vector<bool> told(calls.size(), false);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (told[i]) continue;
    std::vector<int> ranks;
    for (std::size_t j = i; j < calls.size(); ++j) {
      if (calls[j] != calls[i]) continue;
      told[j] = true;
      ranks.push_back(static_cast<int>(j));
    }
    if (!text.empty()) text += "; ";
    text += list_of_ranks(ranks) + " called " + describe(calls[i]);
  }
  return text;
}

}  // namespace devsan::sim::nccl
