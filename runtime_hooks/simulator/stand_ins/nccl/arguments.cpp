// What NCCL checks before it starts a call.
#include <cstdio>

#include "simulator/core/machine.h"
#include "simulator/stand_ins/nccl/work.h"

namespace devsan::sim::nccl {
namespace {

std::string address(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

[[noreturn]] void refuse(const Work& work, const std::string& what) {
  throw Failure(ncclInvalidArgument, std::string(function_name(work.call.function)) + " : " + what);
}

void check_buffer(const Work& work, const char* name, const void* pointer, std::size_t bytes) {
  if (bytes == 0) return;
  const auto* at = static_cast<const std::byte*>(pointer);
  const std::byte* const end = at + bytes;
  // What an expandable segment maps in pieces is several blocks, one behind the other.
  while (at < end) {
    const auto block = machine().memory().find(at);
    if (!block) {
      if (at == pointer)
        refuse(work, std::string(name) + " " + address(at) + " is not a valid pointer");
      refuse(work, std::string(name) + " " + address(pointer) + " ends after " +
                       std::to_string(at - static_cast<const std::byte*>(pointer)) + " of " +
                       std::to_string(bytes) + " bytes");
    }
    if (block->on_device() && block->device != work.communicator->device()) {
      refuse(work, std::string(name) + " allocated on device " + std::to_string(block->device) +
                       " mismatchs with NCCL device " +
                       std::to_string(work.communicator->device()));
    }
    at = static_cast<const std::byte*>(block->base) + block->bytes;
  }
}

}  // namespace

void check_arguments(const Work& work, cudaStream_t stream) {
  const Call& call = work.call;
  const Communicator& communicator = *work.communicator;
  const int ranks = communicator.ranks();
  const bool rooted = call.function == Function::kBroadcast || call.function == Function::kReduce ||
                      call.function == Function::kGather || call.function == Function::kScatter;
  if (rooted && (call.root < 0 || call.root >= ranks)) {
    refuse(work, "invalid root " + std::to_string(call.root) + " (root should be in the 0.." +
                     std::to_string(ranks) + " range)");
  }
  if (is_message(work.call) && (call.root < 0 || call.root >= ranks)) {
    refuse(work,
           "invalid peer " + std::to_string(call.root) + " of " + std::to_string(ranks) + " ranks");
  }
  if (call.datatype >= ncclNumTypes) refuse(work, "invalid type " + std::to_string(call.datatype));
  if (work.premul && work.premul->type != work.type()) {
    refuse(work, "the operator was made for another type");
  }
  if (!machine().streams().find(stream, communicator.device()) ||
      machine().streams().find(stream, communicator.device())->device != communicator.device()) {
    throw Failure(ncclUnhandledCudaError, "Cuda failure 400 'invalid resource handle'");
  }

  const std::size_t one = work.bytes();
  const std::size_t all = one * static_cast<std::size_t>(ranks);
  const bool at_root = communicator.rank() == call.root;
  switch (call.function) {
    case Function::kSend:
      return check_buffer(work, "buff", work.send, one);
    case Function::kRecv:
      return check_buffer(work, "buff", work.receive, one);
    case Function::kAllReduce:
      check_buffer(work, "sendbuff", work.send, one);
      return check_buffer(work, "recvbuff", work.receive, one);
    case Function::kBroadcast:
      if (at_root) check_buffer(work, "sendbuff", work.send, one);
      return check_buffer(work, "recvbuff", work.receive, one);
    case Function::kReduce:
      check_buffer(work, "sendbuff", work.send, one);
      if (at_root) check_buffer(work, "recvbuff", work.receive, one);
      return;
    case Function::kAllGather:
      check_buffer(work, "sendbuff", work.send, one);
      return check_buffer(work, "recvbuff", work.receive, all);
    case Function::kReduceScatter:
      check_buffer(work, "sendbuff", work.send, all);
      return check_buffer(work, "recvbuff", work.receive, one);
    case Function::kAlltoAll:
      check_buffer(work, "sendbuff", work.send, all);
      return check_buffer(work, "recvbuff", work.receive, all);
    case Function::kGather:
      check_buffer(work, "sendbuff", work.send, one);
      if (at_root) check_buffer(work, "recvbuff", work.receive, all);
      return;
    case Function::kScatter:
      if (at_root) check_buffer(work, "sendbuff", work.send, all);
      return check_buffer(work, "recvbuff", work.receive, one);
    case Function::kNone:
    case Function::kInit:
    case Function::kSplit:
    case Function::kShrink:
      return;
  }
}

}  // namespace devsan::sim::nccl
