// One call of NCCL that moves data, with its arguments checked, and how it is carried out.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "simulator/stand_ins/nccl/communicator.h"

namespace devsan::sim::nccl {

struct Work {
  std::shared_ptr<Communicator> communicator;
  Call call;
  const void* send = nullptr;
  void* receive = nullptr;
  std::optional<PreMul> premul;

  ncclDataType_t type() const { return static_cast<ncclDataType_t>(call.datatype); }
  std::size_t bytes() const { return static_cast<std::size_t>(call.count) * element_size(type()); }
};

// Throws Failure(ncclInvalidArgument), in NCCL's words, for arguments that NCCL refuses: a root, a
// type or an operator that is not there, memory that is no device's or another device's; or
// ncclUnhandledCudaError for a stream of another device. Memory is checked as with
// NCCL_CHECK_POINTERS=1: without that NCCL goes on and its kernels fault.
void check_arguments(const Work& work, cudaStream_t stream);

// A collective, to its end. Throws Failure.
void run_collective(const Work& work);

// Sends and receives of one communicator, all at once: in whatever order the peers come to them,
// they complete. Two between the same ranks in the same direction keep their order.
void run_messages(Communicator& communicator, const std::vector<const Work*>& messages);

}  // namespace devsan::sim::nccl
