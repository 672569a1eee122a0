// What goes wrong between ranks: it is told in one line, on every rank, and nothing hangs.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>

#include "nccl_harness.h"

namespace {

using devsan::sim::nccl_test::DeviceArray;
using devsan::sim::nccl_test::on_processes;
using devsan::sim::nccl_test::on_threads;
using devsan::sim::nccl_test::Outcome;
using testing::AnyOf;
using testing::HasSubstr;

[[maybe_unused]] const int options_are_set =
    setenv("DEVSAN_OPTIONS", "simulate=4:device_memory=1GiB:nccl_timeout=2", /*overwrite=*/1);

ncclResult_t sum_up(ncclComm_t comm, std::size_t count = 4) {
  DeviceArray<float> data(count);
  return ncclAllReduce(data.get(), data.get(), count, ncclFloat32, ncclSum, comm, nullptr);
}

// Rank 0 makes the first call, rank 1 the second; both must be told `text`.
void expect_mismatch(const std::function<ncclResult_t(float*, ncclComm_t)>& first,
                     const std::function<ncclResult_t(float*, ncclComm_t)>& second,
                     const std::string& text) {
  const auto outcomes = on_processes(2, [&](int rank, ncclComm_t comm) {
    DeviceArray<float> data(64);
    const ncclResult_t result = (rank == 0 ? first : second)(data.get(), comm);
    ncclResult_t later = ncclSuccess;
    ncclCommGetAsyncError(comm, &later);
    // The communicator is of no more use.
    return later == result && sum_up(comm) == result ? result : ncclInternalError;
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.result, ncclInvalidUsage);
    EXPECT_THAT(outcome.text, HasSubstr(text));
    EXPECT_THAT(outcome.text, testing::Not(HasSubstr("\n")));
  }
}

ncclResult_t all_reduce(float* data, ncclComm_t comm) {
  return ncclAllReduce(data, data, 4, ncclFloat32, ncclSum, comm, nullptr);
}

TEST(NcclMismatch, OfFunctions) {
  expect_mismatch(
      all_reduce,
      [](float* data, ncclComm_t comm) {
        return ncclBroadcast(data, data, 4, ncclFloat32, 0, comm, nullptr);
      },
      "the ranks of a communicator must make the same call: rank 0 called ncclAllReduce(4 elements "
      "of float32, sum); rank 1 called ncclBroadcast(4 elements of float32, root 0)");
}

TEST(NcclMismatch, OfCounts) {
  expect_mismatch(
      all_reduce,
      [](float* data, ncclComm_t comm) {
        return ncclAllReduce(data, data, 5, ncclFloat32, ncclSum, comm, nullptr);
      },
      "rank 1 called ncclAllReduce(5 elements of float32, sum)");
}

TEST(NcclMismatch, OfNothingAndSomething) {
  expect_mismatch(
      all_reduce,
      [](float*, ncclComm_t comm) {
        return ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, comm, nullptr);
      },
      "rank 1 called ncclAllReduce(0 elements of float32, sum)");
}

TEST(NcclMismatch, OfTypes) {
  expect_mismatch(
      all_reduce,
      [](float* data, ncclComm_t comm) {
        return ncclAllReduce(data, data, 4, ncclInt32, ncclSum, comm, nullptr);
      },
      "rank 1 called ncclAllReduce(4 elements of int32, sum)");
}

TEST(NcclMismatch, OfOperators) {
  expect_mismatch(
      all_reduce,
      [](float* data, ncclComm_t comm) {
        return ncclAllReduce(data, data, 4, ncclFloat32, ncclMax, comm, nullptr);
      },
      "rank 1 called ncclAllReduce(4 elements of float32, max)");
}

TEST(NcclMismatch, OfRoots) {
  const auto broadcast_from = [](int root) {
    return [root](float* data, ncclComm_t comm) {
      return ncclBroadcast(data, data, 4, ncclFloat32, root, comm, nullptr);
    };
  };
  expect_mismatch(broadcast_from(0), broadcast_from(1),
                  "rank 1 called ncclBroadcast(4 elements of "
                  "float32, root 1)");
}

TEST(NcclMismatch, OfASendAndItsReceive) {
  expect_mismatch(
      [](float* data, ncclComm_t comm) {
        ncclSend(data, 4, ncclFloat32, 1, comm, nullptr);
        return all_reduce(data, comm);
      },
      [](float* data, ncclComm_t comm) { return ncclRecv(data, 8, ncclFloat32, 0, comm, nullptr); },
      "rank 0 called ncclSend(4 elements of float32, to rank 1); rank 1 called ncclRecv(8 elements "
      "of float32, from rank 0)");
}

// Longer than a mailbox, so that a send waits for its receive.
constexpr std::size_t kLong = 100'000;

TEST(NcclMismatch, OfACollectiveAndAMessage) {
  for (const bool sends : {false, true}) {
    const auto outcomes = on_processes(2, [&](int rank, ncclComm_t comm) {
      DeviceArray<float> data(kLong);
      if (rank == 0) return sum_up(comm);
      return sends ? ncclSend(data.get(), kLong, ncclFloat32, 0, comm, nullptr)
                   : ncclRecv(data.get(), kLong, ncclFloat32, 0, comm, nullptr);
    });
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.result, ncclInvalidUsage);
      EXPECT_THAT(outcome.text,
                  HasSubstr(std::string("rank 0 called ncclAllReduce(4 elements of float32, sum); "
                                        "rank 1 called nccl") +
                            (sends ? "Send" : "Recv") + "(100000 elements of float32"));
    }
  }
}

TEST(NcclMismatch, IsNoneIfTheMessageWasSentBefore) {
  const auto outcomes = on_processes(2, [](int rank, ncclComm_t comm) {
    DeviceArray<float> data(4);
    if (rank == 0) {
      ncclSend(data.get(), 4, ncclFloat32, 1, comm, nullptr);
    } else {
      usleep(300'000);  // rank 0 waits in the collective meanwhile
      ncclRecv(data.get(), 4, ncclFloat32, 0, comm, nullptr);
    }
    return sum_up(comm);
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.result, ncclSuccess) << outcome.text;
}

TEST(NcclMismatch, RanksThatAgreeAreToldTogether) {
  const auto outcomes =
      on_processes(4, [](int rank, ncclComm_t comm) { return sum_up(comm, rank == 2 ? 8 : 4); });
  for (const Outcome& outcome : outcomes) {
    EXPECT_THAT(outcome.text, HasSubstr("ranks 0, 1, 3 called ncclAllReduce(4 elements of float32, "
                                        "sum); rank 2 called ncclAllReduce(8 elements"));
  }
}

TEST(NcclDuplicates, AreRefusedInNcclsWords) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  std::string texts[2];
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      cudaSetDevice(1);
      ncclComm_t comm = nullptr;
      EXPECT_EQ(ncclCommInitRank(&comm, 2, id, rank), ncclInvalidUsage);
      EXPECT_EQ(comm, nullptr);
      texts[rank] = ncclGetLastError(nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  // The last error is the process's: either rank's text may be what both see.
  for (const std::string& text : texts) {
    EXPECT_THAT(text,
                AnyOf("Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 11000",
                      "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 11000"));
  }
}

using Clock = std::chrono::steady_clock;

TEST(NcclDeath, EndsTheOthersAtOnce) {
  Clock::time_point killed;
  const auto outcomes = on_processes(
      3,
      [](int rank, ncclComm_t comm) {
        if (rank == 1) pause();
        return sum_up(comm);
      },
      [&](const std::vector<pid_t>& pids) {
        usleep(200'000);
        killed = Clock::now();
        kill(pids[1], SIGKILL);
      });
  EXPECT_LT(Clock::now() - killed, std::chrono::milliseconds(1500)) << "not before the time-out";
  EXPECT_FALSE(outcomes[1].exited);
  for (const int rank : {0, 2}) {
    const Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
    EXPECT_EQ(outcome.result, ncclRemoteError);
    EXPECT_THAT(outcome.text, HasSubstr("for rank 1 (pid "));
    EXPECT_THAT(outcome.text, HasSubstr("whose process has ended"));
  }
}

TEST(NcclDeath, OfASenderLeavesWhatItSent) {
  const auto outcomes = on_processes(2, [](int rank, ncclComm_t comm) {
    DeviceArray<float> data(std::vector<float>(1000, static_cast<float>(rank)));
    if (rank == 0) return ncclSend(data.get(), 1000, ncclFloat32, 1, comm, nullptr);
    usleep(300'000);  // rank 0 is gone by now
    const ncclResult_t result = ncclRecv(data.get(), 1000, ncclFloat32, 0, comm, nullptr);
    if (result != ncclSuccess || data.values() != std::vector<float>(1000, 0.0F)) {
      return ncclInternalError;
    }
    return ncclRecv(data.get(), 1, ncclFloat32, 0, comm, nullptr);
  });
  EXPECT_EQ(outcomes[0].result, ncclSuccess);
  EXPECT_EQ(outcomes[1].result, ncclRemoteError) << outcomes[1].text;
}

TEST(NcclHang, EndsAfterTheTimeout) {
  const auto outcomes = on_processes(
      2,
      [](int rank, ncclComm_t comm) {
        if (rank == 1) pause();
        return sum_up(comm);
      },
      [](const std::vector<pid_t>& pids) {
        const Clock::time_point start = Clock::now();
        siginfo_t ended;
        waitid(P_PID, static_cast<id_t>(pids[0]), &ended, WEXITED | WNOWAIT);
        EXPECT_GT(Clock::now() - start, std::chrono::milliseconds(1900));
        kill(pids[1], SIGKILL);
      });
  EXPECT_EQ(outcomes[0].result, ncclRemoteError);
  EXPECT_THAT(
      outcomes[0].text,
      HasSubstr("rank 0 waited 2 s in ncclAllReduce(4 elements of float32, sum) (the option "
                "nccl_timeout); rank 1 is in no call of NCCL"));
}

TEST(NcclHang, ARankThatDoesNotJoinIsNamed) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  cudaSetDevice(0);
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 0), ncclRemoteError);
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("rank 1 has not joined"));
}

TEST(NcclAbort, FromAnotherThreadEndsACallThatWaits) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comms[2] = {};
  std::vector<std::thread> init;
  for (int rank = 0; rank < 2; ++rank) {
    init.emplace_back([&, rank] {
      cudaSetDevice(rank);
      ncclCommInitRank(&comms[rank], 2, id, rank);
    });
  }
  for (std::thread& thread : init) thread.join();
  const Clock::time_point start = Clock::now();
  std::thread waits([&] {
    cudaSetDevice(0);
    EXPECT_EQ(sum_up(comms[0]), ncclRemoteError);
  });
  usleep(100'000);
  EXPECT_EQ(ncclCommAbort(comms[0]), ncclSuccess);
  waits.join();
  EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(1500));
  // The peer learns of it as soon as it waits for the rank that left.
  cudaSetDevice(1);
  EXPECT_EQ(sum_up(comms[1]), ncclRemoteError);
  EXPECT_THAT(ncclGetLastError(nullptr),
              HasSubstr("rank 0 aborted its communicator in ncclAllReduce(4 "));
  EXPECT_EQ(ncclCommDestroy(comms[1]), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comms[1]), ncclInvalidArgument);
  cudaSetDevice(0);
}

TEST(NcclArguments, AreRefusedInNcclsWords) {
  on_threads(2, [](int rank, ncclComm_t comm) {
    if (rank != 0) return;
    DeviceArray<float> data(16);
    float host[16] = {};
    const auto refused = [](ncclResult_t result, ncclResult_t wanted, const std::string& text) {
      EXPECT_EQ(result, wanted) << text;
      EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr(text));
    };
    refused(ncclAllReduce(host, data.get(), 4, ncclFloat32, ncclSum, comm, nullptr),
            ncclInvalidArgument, "is not a valid pointer");
    refused(ncclAllReduce(data.get(), host, 4, ncclFloat32, ncclSum, comm, nullptr),
            ncclInvalidArgument, "AllReduce : recvbuff ");
    refused(ncclAllReduce(data.get(), data.get(), 17, ncclFloat32, ncclSum, comm, nullptr),
            ncclInvalidArgument, "ends after 64 of 68 bytes");
    refused(ncclBroadcast(data.get(), data.get(), 4, ncclFloat32, 2, comm, nullptr),
            ncclInvalidArgument, "Broadcast : invalid root 2 (root should be in the 0..2 range)");
    refused(ncclSend(data.get(), 4, ncclFloat32, 2, comm, nullptr), ncclInvalidArgument,
            "Send : invalid peer 2");
    refused(ncclAllReduce(data.get(), data.get(), 4, ncclNumTypes, ncclSum, comm, nullptr),
            ncclInvalidArgument, "AllReduce : invalid type 12");
    refused(ncclAllReduce(data.get(), data.get(), 4, ncclFloat32, static_cast<ncclRedOp_t>(99),
                          comm, nullptr),
            ncclInvalidArgument, "reduction operation 99 unknown to this communicator");
    refused(ncclAllReduce(data.get(), data.get(), 4, ncclFloat32, ncclSum, nullptr, nullptr),
            ncclInvalidArgument, "AllReduce : comm argument is NULL");
    cudaSetDevice(1);
    DeviceArray<float> elsewhere(16);
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    refused(ncclAllReduce(elsewhere.get(), data.get(), 4, ncclFloat32, ncclSum, comm, nullptr),
            ncclInvalidArgument,
            "AllReduce : sendbuff allocated on device 1 mismatchs with NCCL device 0");
    refused(ncclAllReduce(data.get(), data.get(), 4, ncclFloat32, ncclSum, comm, stream),
            ncclUnhandledCudaError, "Cuda failure 400 'invalid resource handle'");
    cudaStreamDestroy(stream);
    cudaSetDevice(0);
  });
}

TEST(NcclArguments, OfInitAreRefused) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
  EXPECT_STREQ(ncclGetLastError(nullptr), "Invalid rank requested : 2/2");
  ncclUniqueId made_up{};
  EXPECT_EQ(ncclCommInitRank(&comm, 1, made_up, 0), ncclInvalidArgument);
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("not made by ncclGetUniqueId"));
  const int twice[] = {0, 0};
  ncclComm_t comms[2];
  EXPECT_EQ(ncclCommInitAll(comms, 2, twice), ncclInvalidUsage);
}

TEST(NcclMissing, ThrowsItsName) {
  try {
    ncclCommRevoke(nullptr, NCCL_REVOKE_DEFAULT);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "devsan simulator: ncclCommRevoke is not emulated");
  }
}

}  // namespace
