// Starting ranks, and ending all when one ends badly.
#include "spawn.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "common/usage_error.h"

namespace models::multimodal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{10};
constexpr const char* kMarker = "MULTIMODAL_SPAWNED";
constexpr const char* kHost = "127.0.0.1";

// Blocks the signals that run_ranks() waits for, in this thread and those it starts.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&blocked_);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked_, signal);
    pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  const sigset_t& before() const { return before_; }

  // The next of these signals, or 0 when none comes before `deadline`.
  int wait(std::optional<Clock::time_point> deadline) const {
    while (true) {
      int signal = 0;
      if (!deadline) {
        signal = sigwaitinfo(&blocked_, nullptr);
      } else {
        const auto left = std::max(*deadline - Clock::now(), Clock::duration::zero());
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
        const timespec timeout{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
        signal = sigtimedwait(&blocked_, nullptr, &timeout);
      }
      if (signal > 0) return signal;
      if (errno == EAGAIN) return 0;
    }
  }

 private:
  sigset_t blocked_{};
  sigset_t before_{};
};

// This process's environment, with some variables set anew. Keeps the strings it points to.
class Environment {
 public:
  void set(const std::string& name, const std::string& value) {
    std::erase_if(entries_,
                  [&](const std::string& entry) { return entry.starts_with(name + "="); });
    entries_.push_back(name + "=" + value);
  }
  std::vector<char*> pointers() {
    std::vector<char*> pointers;
    for (std::string& entry : entries_) pointers.push_back(entry.data());
    pointers.push_back(nullptr);
    return pointers;
  }

 private:
  static std::vector<std::string> current() {
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
  }
  std::vector<std::string> entries_ = current();
};

Environment environment_of(int rank, int world_size, std::uint16_t store_port) {
  Environment environment;
  environment.set("RANK", std::to_string(rank));
  environment.set("LOCAL_RANK", std::to_string(rank));
  environment.set("WORLD_SIZE", std::to_string(world_size));
  environment.set("MASTER_ADDR", kHost);
  environment.set("MASTER_PORT", std::to_string(store_port));
  environment.set("TORCHELASTIC_USE_AGENT_STORE", "True");
  environment.set(kMarker, "1");
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    const unsigned cores = std::thread::hardware_concurrency();
    const unsigned threads = std::max(1U, cores / static_cast<unsigned>(world_size));
    environment.set("OMP_NUM_THREADS", std::to_string(threads));
  }
  return environment;
}

// Between fork and exec only calls that are safe in a signal handler: another thread may have held
// any lock.
pid_t start_rank(char** argv, char** environment, const sigset_t& signal_mask, pid_t parent) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(128 + SIGTERM);  // it ended before it could be heard of
  pthread_sigmask(SIG_SETMASK, &signal_mask, nullptr);
  execve("/proc/self/exe", argv, environment);
  _exit(127);
}

int exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

class Ranks {
 public:
  void add(pid_t pid) { running_.push_back(pid); }
  bool any() const { return !running_.empty(); }
  void send(int signal) const {
    for (const pid_t pid : running_) kill(pid, signal);
  }
  // Takes those that ended off the list. The exit code of the first that failed, if one did.
  std::optional<int> reap() {
    std::optional<int> failure;
    std::erase_if(running_, [&](pid_t pid) {
      int status = 0;
      if (waitpid(pid, &status, WNOHANG) != pid) return false;
      if (const int code = exit_code(status); code != 0 && !failure) failure = code;
      return true;
    });
    return failure;
  }

 private:
  std::vector<pid_t> running_;
};

}  // namespace

int run_ranks(int world_size, char** argv) {
  const BlockedSignals signals;
  c10d::TCPStoreOptions store_options;
  store_options.port = 0;  // one that is free
  store_options.isServer = true;
  store_options.waitWorkers = false;
  const auto store = c10::make_intrusive<c10d::TCPStore>(kHost, store_options);

  Ranks ranks;
  const pid_t parent = getpid();
  for (int rank = 0; rank < world_size; ++rank) {
    Environment environment = environment_of(rank, world_size, store->getPort());
    const pid_t pid = start_rank(argv, environment.pointers().data(), signals.before(), parent);
    if (pid < 0) {
      const std::string reason = std::strerror(errno);
      ranks.send(SIGKILL);
      throw UsageError(
          fmt::format("--spawn {}: rank {} cannot be started: {}", world_size, rank, reason));
    }
    ranks.add(pid);
  }

  int result = 0;
  std::optional<Clock::time_point> deadline;
  while (ranks.any()) {
    const int signal = signals.wait(deadline);
    if (signal == 0) {
      ranks.send(SIGKILL);
      deadline.reset();
    } else if (signal != SIGCHLD) {
      ranks.send(signal);
      if (!deadline) deadline = Clock::now() + kGrace;
    }
    if (const auto failure = ranks.reap(); failure && result == 0) {
      result = *failure;
      ranks.send(SIGTERM);
      if (!deadline) deadline = Clock::now() + kGrace;
    }
  }
  return result;
}

bool is_spawned_rank() {
  return std::getenv(kMarker) != nullptr;
}

}  // namespace models::multimodal
