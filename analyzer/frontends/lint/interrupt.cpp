// A thread of its own waits for the signals, so that it may do what a signal handler may not.
#include "interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

namespace devsan::lint {
namespace {

std::mutex whole_work;
std::filesystem::path to_remove;

void wait_for(const sigset_t& signals) {
  int number = 0;
  if (::sigwait(&signals, &number) != 0) return;
  whole_work.lock();
  std::error_code error;
  if (!to_remove.empty()) std::filesystem::remove_all(to_remove, error);
  std::string_view text = "\r\033[Kdevsan lint: interrupted\n";
  if (::isatty(STDERR_FILENO) != 1) text.remove_prefix(4);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(128 + number);
}

}  // namespace

void end_on_interrupt() {
  static sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([] { wait_for(signals); }).detach();
}

Uninterrupted::Uninterrupted() {
  whole_work.lock();
}

Uninterrupted::~Uninterrupted() {
  whole_work.unlock();
}

void remove_on_interrupt(const std::filesystem::path& folder) {
  const Uninterrupted guard;
  to_remove = folder;
}

}  // namespace devsan::lint
