// The communicators that a program holds handles of. A call keeps its communicator alive, so that
// another thread may abort it meanwhile.
#pragma once

#include <memory>

#include "simulator/stand_ins/nccl/communicator.h"

namespace devsan::sim::nccl {

ncclComm_t add_handle(std::shared_ptr<Communicator> communicator);
// Throws Failure(ncclInvalidArgument) for null and for what is no live communicator; `function` is
// named in the text.
std::shared_ptr<Communicator> find_handle(ncclComm_t handle, const char* function);
// The same; the handle is of no use afterwards.
std::shared_ptr<Communicator> take_handle(ncclComm_t handle, const char* function);

}  // namespace devsan::sim::nccl
