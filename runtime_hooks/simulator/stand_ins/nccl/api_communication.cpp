// NCCL's interface: what moves data.
#include "simulator/stand_ins/handles.h"
#include "simulator/stand_ins/nccl/group.h"
#include "simulator/stand_ins/nccl/handles.h"
#include "simulator/stand_ins/nccl/work.h"

using devsan::sim::nccl::Communicator;
using devsan::sim::nccl::Failure;
using devsan::sim::nccl::Function;
using devsan::sim::nccl::Reduction;
using devsan::sim::nccl::Work;
namespace nccl = devsan::sim::nccl;

namespace {

struct Arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  int root = -1;
  const ncclRedOp_t* op = nullptr;
};

void set_operator(Work& work, ncclRedOp_t op) {
  const char* const function = nccl::function_name(work.call.function);
  if (op < 0) {
    throw Failure(ncclInvalidArgument,
                  std::string(function) + " : invalid reduction operation " + std::to_string(op));
  }
  if (op < ncclNumOps) {
    static_assert(static_cast<int>(Reduction::kSum) == ncclSum &&
                  static_cast<int>(Reduction::kProd) == ncclProd &&
                  static_cast<int>(Reduction::kMax) == ncclMax &&
                  static_cast<int>(Reduction::kMin) == ncclMin &&
                  static_cast<int>(Reduction::kAvg) == ncclAvg);
    work.call.reduction = static_cast<Reduction>(op);
  } else {
    work.call.reduction = Reduction::kPreMulSum;
    work.premul = work.communicator->premul(op, function);
  }
}

ncclResult_t call(Function function, const Arguments& arguments, ncclComm_t comm,
                  cudaStream_t stream) {
  return nccl::answer([&] {
    Work work;
    try {
      work.communicator = nccl::find_handle(comm, nccl::function_name(function));
      work.call.function = function;
      work.call.datatype = static_cast<std::uint8_t>(arguments.type);
      work.call.count = arguments.count;
      work.call.root = arguments.root;
      work.send = arguments.send;
      work.receive = arguments.receive;
      if (arguments.op != nullptr) set_operator(work, *arguments.op);
      nccl::check_arguments(work, stream);
    } catch (const Failure& failure) {
      nccl::note_failure(failure);
      throw;
    }
    nccl::submit(std::move(work));
  });
}

}  // namespace

DEVSAN_LIBRARY_API ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count,
                                              ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                              cudaStream_t stream) {
  return call(Function::kAllReduce, {send, receive, count, type, -1, &op}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclReduce(const void* send, void* receive, size_t count,
                                           ncclDataType_t type, ncclRedOp_t op, int root,
                                           ncclComm_t comm, cudaStream_t stream) {
  return call(Function::kReduce, {send, receive, count, type, root, &op}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count,
                                                  ncclDataType_t type, ncclRedOp_t op,
                                                  ncclComm_t comm, cudaStream_t stream) {
  return call(Function::kReduceScatter, {send, receive, count, type, -1, &op}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count,
                                              ncclDataType_t type, int root, ncclComm_t comm,
                                              cudaStream_t stream) {
  return call(Function::kBroadcast, {send, receive, count, type, root}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root,
                                          ncclComm_t comm, cudaStream_t stream) {
  return call(Function::kBroadcast, {buffer, buffer, count, type, root}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclAllGather(const void* send, void* receive, size_t count,
                                              ncclDataType_t type, ncclComm_t comm,
                                              cudaStream_t stream) {
  return call(Function::kAllGather, {send, receive, count, type}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclAlltoAll(const void* send, void* receive, size_t count,
                                             ncclDataType_t type, ncclComm_t comm,
                                             cudaStream_t stream) {
  return call(Function::kAlltoAll, {send, receive, count, type}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclGather(const void* send, void* receive, size_t count,
                                           ncclDataType_t type, int root, ncclComm_t comm,
                                           cudaStream_t stream) {
  return call(Function::kGather, {send, receive, count, type, root}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclScatter(const void* send, void* receive, size_t count,
                                            ncclDataType_t type, int root, ncclComm_t comm,
                                            cudaStream_t stream) {
  return call(Function::kScatter, {send, receive, count, type, root}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type,
                                         int peer, ncclComm_t comm, cudaStream_t stream) {
  return call(Function::kSend, {send, nullptr, count, type, peer}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer,
                                         ncclComm_t comm, cudaStream_t stream) {
  return call(Function::kRecv, {nullptr, receive, count, type, peer}, comm, stream);
}

DEVSAN_LIBRARY_API ncclResult_t ncclGroupStart() {
  return nccl::answer([] { nccl::start_group(); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclGroupEnd() {
  return nccl::answer([] { nccl::end_group(); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t*) {
  return nccl::answer([] {
    nccl::drop_group();
    throw Failure(ncclInvalidUsage, "devsan simulator: ncclGroupSimulateEnd is not emulated");
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar,
                                                         ncclDataType_t type,
                                                         ncclScalarResidence_t residence,
                                                         ncclComm_t comm) {
  return nccl::answer([&] {
    const auto communicator = nccl::find_handle(comm, "RedOpCreatePreMulSum");
    if (type < 0 || type >= ncclNumTypes || scalar == nullptr) {
      throw Failure(ncclInvalidArgument, "RedOpCreatePreMulSum : invalid type or scalar");
    }
    nccl::PreMul premul;
    premul.type = type;
    if (residence == ncclScalarDevice) {
      premul.on_device = scalar;
    } else {
      std::memcpy(premul.immediate, scalar, nccl::element_size(type));
    }
    *op = communicator->add_premul(premul);
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return nccl::answer([&] { nccl::find_handle(comm, "RedOpDestroy")->remove_premul(op); });
}
