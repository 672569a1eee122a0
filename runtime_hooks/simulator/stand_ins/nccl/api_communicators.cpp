// NCCL's interface: making communicators of ids and of each other, asking them, ending them.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "simulator/core/machine.h"
#include "simulator/stand_ins/handles.h"
#include "simulator/stand_ins/nccl/group.h"
#include "simulator/stand_ins/nccl/handles.h"

using devsan::sim::current_device;
using devsan::sim::machine;
using devsan::sim::nccl::Call;
using devsan::sim::nccl::Communicator;
using devsan::sim::nccl::Failure;
using devsan::sim::nccl::Function;
using devsan::sim::nccl::kMaxRanks;
using devsan::sim::nccl::SegmentId;
namespace nccl = devsan::sim::nccl;

namespace {

static_assert(sizeof(SegmentId) <= sizeof(ncclUniqueId));

ncclUniqueId to_unique_id(const SegmentId& id) {
  ncclUniqueId unique{};
  std::memcpy(unique.internal, &id, sizeof id);
  return unique;
}

SegmentId to_segment_id(const ncclUniqueId& unique) {
  SegmentId id;
  std::memcpy(&id, unique.internal, sizeof id);
  return id;
}

void check_config(const ncclConfig_t* config) {
  const ncclConfig_t initial = NCCL_CONFIG_INITIALIZER;
  if (config != nullptr && config->magic != initial.magic) {
    throw Failure(ncclInvalidArgument,
                  "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  }
}

ncclComm_t join(const SegmentId& id, int ranks, int rank, int device) {
  auto communicator = std::make_shared<Communicator>(id, ranks, rank, device);
  nccl::release_segment(id);
  return nccl::add_handle(std::move(communicator));
}

void init_rank(ncclComm_t* out, int ranks, const ncclUniqueId& unique, int rank, int device) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    throw Failure(ncclInvalidArgument,
                  "Invalid rank requested : " + std::to_string(rank) + "/" + std::to_string(ranks));
  }
  if (ranks > kMaxRanks) {
    throw Failure(ncclInvalidArgument, "devsan simulator: a communicator of " +
                                           std::to_string(ranks) + " ranks; one machine has " +
                                           std::to_string(kMaxRanks) + " at most");
  }
  if (!machine().has_device(device)) {
    throw Failure(ncclUnhandledCudaError, "Cuda failure 100 'no CUDA-capable device is detected'");
  }
  *out = nullptr;
  nccl::submit(nullptr, [=, id = to_segment_id(unique)] { *out = join(id, ranks, rank, device); });
}

// The ranks of one color, in the order of their keys and then of their ranks, get a communicator.
void split(const std::shared_ptr<Communicator>& parent, int color, int key, ncclComm_t* out) {
  struct Choice {
    int color;
    int key;
  };
  const Call call{.function = Function::kSplit};
  const Choice mine{color, key};
  parent->begin(call);
  const std::vector<std::byte> given = parent->exchange(call, &mine, sizeof mine);
  std::vector<std::tuple<int, int>> members;  // key, rank in the parent
  for (int rank = 0; rank < parent->ranks(); ++rank) {
    Choice choice;
    std::memcpy(&choice, given.data() + static_cast<std::size_t>(rank) * sizeof choice,
                sizeof choice);
    if (choice.color == color) members.emplace_back(choice.key, rank);
  }
  std::sort(members.begin(), members.end());
  const int leader = std::get<1>(members.front());
  SegmentId id;
  if (color != NCCL_SPLIT_NOCOLOR && leader == parent->rank()) id = nccl::create_segment();
  const std::vector<std::byte> ids = parent->exchange(call, &id, sizeof id);
  parent->end();
  if (color == NCCL_SPLIT_NOCOLOR) return;
  std::memcpy(static_cast<void*>(&id), ids.data() + static_cast<std::size_t>(leader) * sizeof id,
              sizeof id);
  const auto me = std::find(members.begin(), members.end(), std::tuple(key, parent->rank()));
  *out = join(id, static_cast<int>(members.size()), static_cast<int>(me - members.begin()),
              parent->device());
}

}  // namespace

DEVSAN_LIBRARY_API ncclResult_t ncclGetUniqueId(ncclUniqueId* unique) {
  return nccl::answer([&] { *unique = to_unique_id(nccl::create_segment()); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks,
                                                       ncclUniqueId unique, int rank,
                                                       ncclConfig_t* config) {
  return nccl::answer([&] {
    check_config(config);
    init_rank(comm, ranks, unique, rank, current_device());
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId unique,
                                                 int rank) {
  return ncclCommInitRankConfig(comm, ranks, unique, rank, nullptr);
}

// Several ids spread NCCL's own traffic while it connects; one is enough here.
DEVSAN_LIBRARY_API ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int ranks, int rank,
                                                         int ids, ncclUniqueId* uniques,
                                                         ncclConfig_t* config) {
  return nccl::answer([&] {
    if (ids < 1 || ids > ranks) {
      throw Failure(ncclInvalidArgument,
                    "improper usage of ncclCommInitRank: nId = " + std::to_string(ids) +
                        ", nranks=" + std::to_string(ranks));
    }
    check_config(config);
    init_rank(comm, ranks, uniques[0], rank, current_device());
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  return nccl::answer([&] {
    if (count < 1) {
      throw Failure(ncclInvalidArgument,
                    "Invalid device count requested : " + std::to_string(count));
    }
    std::vector<bool> taken(static_cast<std::size_t>(machine().device_count()), false);
    for (int i = 0; i < count; ++i) {
      const int device = devices != nullptr ? devices[i] : i;
      if (!machine().has_device(device)) {
        throw Failure(ncclUnhandledCudaError,
                      "Invalid device " + std::to_string(device) +
                          " (totalnDev=" + std::to_string(machine().device_count()) + ")");
      }
      if (taken[static_cast<std::size_t>(device)]) {
        throw Failure(ncclInvalidUsage, "devsan simulator: ncclCommInitAll names device " +
                                            std::to_string(device) + " twice");
      }
      taken[static_cast<std::size_t>(device)] = true;
    }
    const ncclUniqueId unique = to_unique_id(nccl::create_segment());
    nccl::start_group();
    for (int i = 0; i < count; ++i) {
      init_rank(&comms[i], count, unique, i, devices != nullptr ? devices[i] : i);
    }
    nccl::end_group();
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* out,
                                              ncclConfig_t* config) {
  return nccl::answer([&] {
    const auto parent = nccl::find_handle(comm, "CommSplit");
    check_config(config);
    if (color < 0 && color != NCCL_SPLIT_NOCOLOR) {
      throw Failure(ncclInvalidArgument, "CommSplit : invalid color " + std::to_string(color));
    }
    *out = nullptr;
    nccl::submit(parent, [=] { split(parent, color, key, out); });
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int excluded_count,
                                               ncclComm_t* out, ncclConfig_t* config, int) {
  return nccl::answer([&] {
    const auto parent = nccl::find_handle(comm, "CommShrink");
    check_config(config);
    std::vector<int> survivors;
    for (int rank = 0; rank < parent->ranks(); ++rank) {
      if (std::find(excluded, excluded + excluded_count, rank) == excluded + excluded_count) {
        survivors.push_back(rank);
      }
    }
    const auto me = std::find(survivors.begin(), survivors.end(), parent->rank());
    if (me == survivors.end() || static_cast<int>(survivors.size()) == parent->ranks()) {
      throw Failure(ncclInvalidArgument, "CommShrink : rank " + std::to_string(parent->rank()) +
                                             " calls it with a list of excluded ranks that " +
                                             (me == survivors.end() ? "names it" : "names none"));
    }
    *out = nullptr;
    const int rank = static_cast<int>(me - survivors.begin());
    nccl::submit(parent, [=] {
      const SegmentId id = parent->agree_on_shrunk(survivors);
      *out = join(id, static_cast<int>(survivors.size()), rank, parent->device());
    });
  });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return nccl::answer([&] { nccl::find_handle(comm, "CommFinalize"); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;  // as in NCCL
  return nccl::answer([&] { nccl::take_handle(comm, "CommDestroy"); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;  // as in NCCL
  return nccl::answer([&] { nccl::take_handle(comm, "CommAbort")->abort(); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return nccl::answer([&] { *error = nccl::find_handle(comm, "GetAsyncError")->async_error(); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return nccl::answer([&] { *count = nccl::find_handle(comm, "CommCount")->ranks(); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return nccl::answer([&] { *rank = nccl::find_handle(comm, "CommUserRank")->rank(); });
}

DEVSAN_LIBRARY_API ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return nccl::answer([&] { *device = nccl::find_handle(comm, "CommCuDevice")->device(); });
}
