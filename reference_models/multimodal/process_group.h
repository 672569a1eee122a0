// The ranks that train together: how they meet, and the sums they make.
#pragma once

#include <torch/types.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "fault.h"
#include "launch.h"

namespace models::multimodal {

enum class Backend {
  kNccl,  // between GPUs
  kGloo,  // between CPUs
};

// NCCL where this process sees a GPU.
Backend default_backend();

// Throws UsageError when the backend needs a GPU for each of `local_ranks` ranks of this machine,
// and there are fewer.
void check_gpus(Backend backend, int local_ranks);

// The device of a rank: GPU number local_rank, which becomes the current one, or the CPU.
torch::Device choose_device(const Launch& launch, Backend backend, Fault fault = Fault::kNone);

using ProcessGroup = c10::intrusive_ptr<c10d::ProcessGroup>;

// Joins the other ranks; returns when all are there. A collective that a rank does not come to
// fails after two minutes. Throws UsageError when the store cannot be reached.
ProcessGroup join_ranks(const Launch& launch, Backend backend);

// Waits for the backend's threads and connections to end. A process that exits without is said by
// NCCL to have leaked them.
void leave_ranks(const ProcessGroup& group);

// Adds `values` up over the ranks, in place.
void all_reduce_sum(const ProcessGroup& group, torch::Tensor& values);

}  // namespace models::multimodal
