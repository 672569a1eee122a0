// The headers of the backends are empty without these; the wheel has both.
#define USE_C10D_GLOO
#define USE_C10D_NCCL

#include "process_group.h"

#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>

#include "common/usage_error.h"

namespace models::multimodal {
namespace {

constexpr std::chrono::minutes kTimeout{2};

c10::intrusive_ptr<c10d::Store> open_store(const Launch& launch) {
  if (!launch.has_launcher()) return c10::make_intrusive<c10d::HashStore>();
  c10d::TCPStoreOptions options;
  options.port = launch.store_port;
  options.isServer = launch.is_first() && !launch.store_is_launchers;
  options.numWorkers = static_cast<std::size_t>(launch.world_size);
  options.waitWorkers = false;
  options.timeout = kTimeout;
  try {
    const auto store = c10::make_intrusive<c10d::TCPStore>(launch.store_host, options);
    return c10::make_intrusive<c10d::PrefixStore>(
        fmt::format("/worker/attempt_{}", launch.restarts), store);
  } catch (const c10::Error&) {
    throw UsageError(fmt::format("MASTER_ADDR and MASTER_PORT: no store at {}:{}",
                                 launch.store_host, launch.store_port));
  }
}

}  // namespace

Backend default_backend() {
  return torch::cuda::device_count() > 0 ? Backend::kNccl : Backend::kGloo;
}

void check_gpus(Backend backend, int local_ranks) {
  const auto gpus = static_cast<int>(torch::cuda::device_count());
  if (backend == Backend::kNccl && gpus < local_ranks) {
    throw UsageError(fmt::format("--backend nccl: {} ranks need a GPU each, and there are {}",
                                 local_ranks, gpus));
  }
}

torch::Device choose_device(const Launch& launch, Backend backend, Fault fault) {
  if (backend == Backend::kGloo) return torch::Device(torch::kCPU);
  if (fault != Fault::kSetDevice) {
    c10::cuda::set_device(static_cast<c10::DeviceIndex>(launch.local_rank));
  }
  return torch::Device(torch::kCUDA, c10::cuda::current_device());  // fault: set-device
}

ProcessGroup join_ranks(const Launch& launch, Backend backend) {
  const auto store = open_store(launch);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, launch.rank, launch.world_size);
  if (backend == Backend::kNccl) {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = kTimeout;
    auto nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        c10::make_intrusive<c10d::PrefixStore>("cuda", store), launch.rank, launch.world_size,
        options);
    group->setBackend(c10::kCUDA, c10d::ProcessGroup::BackendType::NCCL, nccl);
    group->setDefaultBackend(c10d::ProcessGroup::BackendType::NCCL);
  } else {
    auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>("cpu", store), launch.rank, launch.world_size,
        c10d::ProcessGroupGloo::Options::create_default(kTimeout));
    group->setBackend(c10::kCPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
    group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
  }
  group->setGroupName("ranks");
  return group;
}

void leave_ranks(const ProcessGroup& group) {
  group->barrier()->wait();
  group->shutdown();
}

void all_reduce_sum(const ProcessGroup& group, torch::Tensor& values) {
  std::vector<torch::Tensor> tensors{values};
  group->allreduce(tensors)->wait();
}

}  // namespace models::multimodal
