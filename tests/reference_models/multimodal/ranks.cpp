// Forks the ranks, and brings back what they say through files.
#include "ranks.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "common/usage_error.h"
#include "multimodal/process_group.h"

namespace models::multimodal {
namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 1;
constexpr int kWrongUse = 2;

// Threads do not live on in a forked process, and OpenMP would wait for its own there.
const bool one_thread = [] {
  torch::set_num_threads(1);
  return true;
}();

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "ranks-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp");
    }
    path_ = name;
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  fs::path of_rank(int rank) const { return path_ / std::to_string(rank); }

 private:
  fs::path path_;
};

// One that was free a moment ago. Rank 0 listens on it.
std::uint16_t free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || bind(listener, any, size) != 0 || getsockname(listener, any, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "no port");
  }
  close(listener);
  return ntohs(address.sin_port);
}

void write(const fs::path& path, const Tensors& tensors) {
  c10::Dict<std::string, torch::Tensor> dictionary;
  for (const auto& [name, tensor] : tensors) dictionary.insert(name, tensor);
  const std::vector<char> bytes = torch::pickle_save(dictionary);
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

Tensors read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto dictionary = torch::pickle_load(bytes).toGenericDict();
  Tensors tensors;
  for (const auto& item : dictionary) {
    tensors.emplace(item.key().toStringRef(), item.value().toTensor());
  }
  return tensors;
}

int be_rank(const Launch& launch, const std::function<Tensors(const Rank&)>& work,
            const fs::path& result) {
  try {
    const Rank rank{launch, join_ranks(launch, Backend::kGloo), torch::kCPU};
    write(result, work(rank));
    leave_ranks(rank.group);
    return testing::Test::HasFailure() ? kFailed : 0;
  } catch (const UsageError&) {
    return kWrongUse;
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", launch.rank, error.what());
    return kFailed;
  }
}

}  // namespace

std::vector<Tensors> run_as_ranks(int ranks, const std::function<Tensors(const Rank&)>& work) {
  const TemporaryFolder folder;
  const std::uint16_t port = free_port();
  std::fflush(nullptr);  // or each rank would print what is still to be printed here
  std::vector<pid_t> processes;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t process = fork();
    if (process < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (process == 0) {
      const int code =
          be_rank({rank, ranks, rank, "127.0.0.1", port, false, 0}, work, folder.of_rank(rank));
      std::fflush(nullptr);
      _exit(code);  // the tests that come after this one are the parent's
    }
    processes.push_back(process);
  }
  std::vector<Tensors> results;
  bool wrong_use = false;
  for (int rank = 0; rank < ranks; ++rank) {
    int status = 0;
    waitpid(processes[static_cast<std::size_t>(rank)], &status, 0);
    wrong_use = wrong_use || (WIFEXITED(status) && WEXITSTATUS(status) == kWrongUse);
    if (wrong_use) continue;
    EXPECT_EQ(status, 0) << "rank " << rank;
    results.push_back(status == 0 ? read(folder.of_rank(rank)) : Tensors());
  }
  if (wrong_use) throw UsageError("a rank refused");
  return results;
}

}  // namespace models::multimodal
