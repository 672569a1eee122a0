// One child, its signals and its exit code.
#include "child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace devsan {
namespace {

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

volatile pid_t child = 0;

// A terminal sends its signals to the whole foreground group: the child has them already. Only what
// was sent to us alone is passed on.
void forward(int signal, siginfo_t* info, void*) {
  const bool from_terminal = info->si_code == SI_KERNEL;
  if (!from_terminal && child > 0) kill(child, signal);
}

[[noreturn]] void execute(const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  std::fprintf(stderr, "devsan run: cannot start '%s': %s\n", arguments[0], std::strerror(error));
  _exit(error == ENOENT ? 127 : 126);
}

}  // namespace

int run_child(const std::vector<std::string>& command,
              const std::map<std::string, std::string>& environment) {
  // Blocked until `child` is known, so that a signal in between is not lost.
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int signal : kForwarded) sigaddset(&blocked, signal);
  sigprocmask(SIG_BLOCK, &blocked, &before);

  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    execute(command, environment);
  }

  child = pid;
  struct sigaction action = {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : kForwarded) sigaction(signal, &action, nullptr);
  sigprocmask(SIG_SETMASK, &before, nullptr);

  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace devsan
