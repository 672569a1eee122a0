// Messages, groups, and communicators made of communicators.
#include <algorithm>
#include <atomic>

#include "nccl_harness.h"

namespace {

using devsan::sim::nccl_test::DeviceArray;
using devsan::sim::nccl_test::on_processes;
using devsan::sim::nccl_test::on_threads;

[[maybe_unused]] const int options_are_set =
    setenv("DEVSAN_OPTIONS", "simulate=8:device_memory=1GiB", /*overwrite=*/1);

constexpr std::size_t kLarge = 300'001;

std::vector<std::int32_t> pattern(int rank, std::size_t count) {
  std::vector<std::int32_t> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = rank * 1'000'000 + static_cast<std::int32_t>(i);
  }
  return result;
}

TEST(NcclMessages, ArriveInOrderAtAnySize) {
  on_threads(2, [](int rank, ncclComm_t comm) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, kLarge}) {
      DeviceArray<std::int32_t> data(pattern(rank, count));
      if (rank == 0) {
        ASSERT_EQ(ncclSend(data.get(), count, ncclInt32, 1, comm, nullptr), ncclSuccess);
      } else {
        ASSERT_EQ(ncclRecv(data.get(), count, ncclInt32, 0, comm, nullptr), ncclSuccess)
            << ncclGetLastError(nullptr);
        EXPECT_EQ(data.values(), pattern(0, count));
      }
    }
  });
}

TEST(NcclMessages, InAGroupTheOrderDoesNotMatter) {
  on_threads(2, [](int rank, ncclComm_t comm) {
    const int peer = 1 - rank;
    const DeviceArray<std::int32_t> mine(pattern(rank, kLarge));
    DeviceArray<std::int32_t> theirs(kLarge);
    ncclGroupStart();
    // Both begin with the large send, which ends only when the peer receives.
    ncclSend(mine.get(), kLarge, ncclInt32, peer, comm, nullptr);
    ncclRecv(theirs.get(), kLarge, ncclInt32, peer, comm, nullptr);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << ncclGetLastError(nullptr);
    EXPECT_EQ(theirs.values(), pattern(peer, kLarge));
  });
}

TEST(NcclMessages, SeveralBetweenTheSameRanksKeepTheirOrder) {
  on_threads(2, [](int rank, ncclComm_t comm) {
    DeviceArray<std::int32_t> first(rank == 0 ? pattern(3, kLarge) : pattern(0, kLarge));
    DeviceArray<std::int32_t> second(rank == 0 ? pattern(4, 5) : pattern(0, 5));
    ncclGroupStart();
    if (rank == 0) {
      ncclSend(first.get(), kLarge, ncclInt32, 1, comm, nullptr);
      ncclSend(second.get(), 5, ncclInt32, 1, comm, nullptr);
    } else {
      ncclRecv(first.get(), kLarge, ncclInt32, 0, comm, nullptr);
      ncclRecv(second.get(), 5, ncclInt32, 0, comm, nullptr);
    }
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << ncclGetLastError(nullptr);
    EXPECT_EQ(first.values(), pattern(3, kLarge));
    EXPECT_EQ(second.values(), pattern(4, 5));
  });
}

TEST(NcclMessages, ARankSendsToItself) {
  on_threads(1, [](int, ncclComm_t comm) {
    const DeviceArray<std::int32_t> from(pattern(5, kLarge));
    DeviceArray<std::int32_t> to(kLarge);
    ncclGroupStart();
    ncclSend(from.get(), kLarge, ncclInt32, 0, comm, nullptr);
    ncclRecv(to.get(), kLarge, ncclInt32, 0, comm, nullptr);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(to.values(), pattern(5, kLarge));
  });
}

TEST(NcclMessages, EveryRankToEveryOtherBetweenProcesses) {
  constexpr int kRanks = 5;
  const auto outcomes = on_processes(kRanks, [](int rank, ncclComm_t comm) {
    const DeviceArray<std::int32_t> mine(pattern(rank, kLarge));
    std::vector<std::unique_ptr<DeviceArray<std::int32_t>>> theirs;
    ncclGroupStart();
    for (int peer = 0; peer < kRanks; ++peer) {
      theirs.push_back(std::make_unique<DeviceArray<std::int32_t>>(kLarge));
      ncclSend(mine.get(), kLarge, ncclInt32, peer, comm, nullptr);
      ncclRecv(theirs.back()->get(), kLarge, ncclInt32, peer, comm, nullptr);
    }
    const ncclResult_t result = ncclGroupEnd();
    for (int peer = 0; peer < kRanks; ++peer) {
      if (theirs[static_cast<std::size_t>(peer)]->values() != pattern(peer, kLarge)) {
        return ncclInternalError;
      }
    }
    return result;
  });
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.result, ncclSuccess) << outcome.text;
}

TEST(NcclGroups, OneThreadDrivesSeveralDevices) {
  constexpr int kDevices = 3;
  ncclComm_t comms[kDevices];
  ASSERT_EQ(ncclCommInitAll(comms, kDevices, nullptr), ncclSuccess) << ncclGetLastError(nullptr);
  std::vector<std::unique_ptr<DeviceArray<float>>> data;
  for (int device = 0; device < kDevices; ++device) {
    cudaSetDevice(device);
    data.push_back(std::make_unique<DeviceArray<float>>(
        std::vector<float>(5, static_cast<float>(device + 1))));
    int value = -1;
    EXPECT_EQ(ncclCommCuDevice(comms[device], &value), ncclSuccess);
    EXPECT_EQ(value, device);
    EXPECT_EQ(ncclCommUserRank(comms[device], &value), ncclSuccess);
    EXPECT_EQ(value, device);
    EXPECT_EQ(ncclCommCount(comms[device], &value), ncclSuccess);
    EXPECT_EQ(value, kDevices);
  }
  ncclGroupStart();
  for (int device = 0; device < kDevices; ++device) {
    float* const buffer = data[static_cast<std::size_t>(device)]->get();
    ncclAllReduce(buffer, buffer, 5, ncclFloat32, ncclSum, comms[device], nullptr);
    ncclAllReduce(buffer, buffer, 5, ncclFloat32, ncclMax, comms[device], nullptr);
  }
  // Nothing has happened yet.
  EXPECT_EQ(data[0]->values(), std::vector<float>(5, 1.0F));
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << ncclGetLastError(nullptr);
  for (int device = 0; device < kDevices; ++device) {
    EXPECT_EQ(data[static_cast<std::size_t>(device)]->values(), std::vector<float>(5, 6.0F));
    EXPECT_EQ(ncclCommDestroy(comms[device]), ncclSuccess);
  }
  cudaSetDevice(0);
}

TEST(NcclGroups, CollectivesAndMessagesMix) {
  on_threads(2, [](int rank, ncclComm_t comm) {
    DeviceArray<float> sum(std::vector<float>{static_cast<float>(rank + 1)});
    DeviceArray<float> message(std::vector<float>{static_cast<float>(rank + 7)});
    DeviceArray<float> received(1);
    ncclGroupStart();
    ncclSend(message.get(), 1, ncclFloat32, 1 - rank, comm, nullptr);
    ncclGroupStart();
    ncclAllReduce(sum.get(), sum.get(), 1, ncclFloat32, ncclSum, comm, nullptr);
    ncclGroupEnd();
    ncclRecv(received.get(), 1, ncclFloat32, 1 - rank, comm, nullptr);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(sum.values()[0], 3.0F);
    EXPECT_EQ(received.values()[0], static_cast<float>(8 - rank));
  });
}

TEST(NcclGroups, ARefusedCallIsTheGroupsResultToo) {
  on_threads(1, [](int, ncclComm_t comm) {
    float host = 1;
    DeviceArray<float> data(std::vector<float>{5.0F});
    ncclGroupStart();
    EXPECT_EQ(ncclAllReduce(&host, data.get(), 1, ncclFloat32, ncclSum, comm, nullptr),
              ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_EQ(data.values()[0], 5.0F);
    // And it is over with that.
    EXPECT_EQ(ncclAllReduce(data.get(), data.get(), 1, ncclFloat32, ncclSum, comm, nullptr),
              ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  });
}

TEST(NcclGroups, TwoCommunicatorsOfTwoThreadsGoTheirOwnWays) {
  // Rank 0's first thread waits for rank 1's second and the other way round: it takes both.
  ncclUniqueId ids[2];
  ncclGetUniqueId(&ids[0]);
  ncclGetUniqueId(&ids[1]);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int rank = 0; rank < 2; ++rank) {
    for (int which = 0; which < 2; ++which) {
      threads.emplace_back([&, rank, which] {
        cudaSetDevice(rank);
        ncclComm_t comm = nullptr;
        if (ncclCommInitRank(&comm, 2, ids[which], rank) != ncclSuccess) return;
        bool all = true;
        for (int i = 0; i < 200; ++i) {
          DeviceArray<float> data(std::vector<float>(100, static_cast<float>(which * 10 + rank)));
          all = ncclAllReduce(data.get(), data.get(), 100, ncclFloat32, ncclSum, comm, nullptr) ==
                    ncclSuccess &&
                data.values() == std::vector<float>(100, static_cast<float>(which * 20 + 1)) && all;
        }
        right += all ? 1 : 0;
        ncclCommDestroy(comm);
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right.load(), 4);
}

TEST(NcclSplit, GivesRanksOfAColorACommunicatorInTheOrderOfTheirKeys) {
  on_threads(5, [](int rank, ncclComm_t comm) {
    // Ranks 0, 2, 4 turned round; 1 and 3 as they are.
    ncclComm_t part = nullptr;
    ASSERT_EQ(ncclCommSplit(comm, rank % 2, rank % 2 == 0 ? -rank : rank, &part, nullptr),
              ncclSuccess)
        << ncclGetLastError(nullptr);
    int count = 0;
    int part_rank = -1;
    ncclCommCount(part, &count);
    ncclCommUserRank(part, &part_rank);
    EXPECT_EQ(count, rank % 2 == 0 ? 3 : 2);
    EXPECT_EQ(part_rank, rank % 2 == 0 ? 2 - rank / 2 : rank / 2);
    DeviceArray<std::int32_t> data(std::vector<std::int32_t>{rank});
    ASSERT_EQ(ncclAllReduce(data.get(), data.get(), 1, ncclInt32, ncclSum, part, nullptr),
              ncclSuccess);
    EXPECT_EQ(data.values()[0], rank % 2 == 0 ? 6 : 4);

    ncclComm_t none = nullptr;
    ASSERT_EQ(ncclCommSplit(comm, rank == 0 ? NCCL_SPLIT_NOCOLOR : 1, 0, &none, nullptr),
              ncclSuccess);
    EXPECT_EQ(none == nullptr, rank == 0);
    ncclCommDestroy(none);
    ncclCommDestroy(part);
  });
}

TEST(NcclShrink, LeavesTheOthersWithout) {
  on_threads(4, [](int rank, ncclComm_t comm) {
    if (rank == 1) return;
    int excluded[] = {1};
    ncclComm_t rest = nullptr;
    ASSERT_EQ(ncclCommShrink(comm, excluded, 1, &rest, nullptr, NCCL_SHRINK_DEFAULT), ncclSuccess)
        << ncclGetLastError(nullptr);
    DeviceArray<std::int32_t> data(std::vector<std::int32_t>{rank});
    ASSERT_EQ(ncclAllReduce(data.get(), data.get(), 1, ncclInt32, ncclSum, rest, nullptr),
              ncclSuccess);
    EXPECT_EQ(data.values()[0], 5);
    ncclCommDestroy(rest);
  });
}

TEST(NcclMemory, IsTheDevicesAndCanBeRegistered) {
  on_threads(1, [](int, ncclComm_t comm) {
    void* buffer = nullptr;
    ASSERT_EQ(ncclMemAlloc(&buffer, 4096), ncclSuccess);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, buffer);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    void* handle = nullptr;
    EXPECT_EQ(ncclCommRegister(comm, buffer, 4096, &handle), ncclSuccess);
    EXPECT_EQ(ncclCommDeregister(comm, handle), ncclSuccess);
    ncclWindow_t window = nullptr;
    EXPECT_EQ(ncclCommWindowRegister(comm, buffer, 4096, &window, NCCL_WIN_DEFAULT), ncclSuccess);
    EXPECT_EQ(ncclCommWindowDeregister(comm, window), ncclSuccess);
    int host = 0;
    EXPECT_EQ(ncclCommRegister(comm, &host, 4, &handle), ncclInvalidArgument);
    EXPECT_EQ(ncclMemFree(buffer), ncclSuccess);
    EXPECT_EQ(ncclMemFree(&host), ncclInvalidArgument);
  });
}

}  // namespace
