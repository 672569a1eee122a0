// Ranks for the tests of NCCL: as threads of this process, or as processes of their own.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nccl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace devsan::sim::nccl_test {

// Device memory of one rank, filled from a vector and read back.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    if (count != 0 && cudaMalloc(&pointer_, count * sizeof(T)) != cudaSuccess) std::abort();
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { set(values); }
  ~DeviceArray() { cudaFree(pointer_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void set(const std::vector<T>& values) {
    cudaMemcpy(pointer_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  std::vector<T> values() const {
    std::vector<T> result(count_);
    cudaMemcpy(result.data(), pointer_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    return result;
  }
  T* get() const { return static_cast<T*>(pointer_); }

 private:
  std::size_t count_;
  void* pointer_ = nullptr;
};

// Runs `body(rank, communicator)` on a thread for each of `ranks`, each on the device of its
// number.
inline void on_threads(int ranks, const std::function<void(int, ncclComm_t)>& body) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      cudaSetDevice(rank);
      ncclComm_t comm = nullptr;
      ASSERT_EQ(ncclCommInitRank(&comm, ranks, id, rank), ncclSuccess) << ncclGetLastError(nullptr);
      body(rank, comm);
      ncclCommDestroy(comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// How a rank that is a process ended: its result, and the text of NCCL's last error there.
struct Outcome {
  bool exited = false;  // by itself
  ncclResult_t result = ncclSuccess;
  std::string text;
};

// Runs `body(rank, communicator)` in a process for each rank, which exits with what `body` returns.
// `watch(pids)` runs meanwhile in this one.
inline std::vector<Outcome> on_processes(
    int ranks, const std::function<ncclResult_t(int, ncclComm_t)>& body,
    const std::function<void(const std::vector<pid_t>&)>& watch = nullptr) {
  constexpr std::size_t kText = 1024;
  void* const shared = mmap(nullptr, kText * static_cast<std::size_t>(ranks),
                            PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char* const texts = static_cast<char*>(shared);
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<pid_t> pids;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      cudaSetDevice(rank);
      ncclComm_t comm = nullptr;
      ncclResult_t result = ncclCommInitRank(&comm, ranks, id, rank);
      if (result == ncclSuccess) result = body(rank, comm);
      std::strncpy(texts + kText * static_cast<std::size_t>(rank), ncclGetLastError(nullptr),
                   kText - 1);
      _exit(result);
    }
    pids.push_back(pid);
  }
  if (watch) watch(pids);
  std::vector<Outcome> outcomes;
  for (int rank = 0; rank < ranks; ++rank) {
    int status = 0;
    waitpid(pids[static_cast<std::size_t>(rank)], &status, 0);
    outcomes.push_back({WIFEXITED(status), static_cast<ncclResult_t>(WEXITSTATUS(status)),
                        texts + kText * static_cast<std::size_t>(rank)});
  }
  munmap(shared, kText * static_cast<std::size_t>(ranks));
  return outcomes;
}

}  // namespace devsan::sim::nccl_test
