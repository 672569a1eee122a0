// LLVM's crash recovery, and a second stack that its signal handler can run on.
#include "safe_thread.h"

#include <signal.h>

#include <exception>
#include <mutex>
#include <vector>

#include "llvm/Support/CrashRecoveryContext.h"

namespace devsan::lint {
namespace {

constexpr unsigned kStack = 16 << 20;
constexpr std::size_t kHandlerStack = 64 << 10;

// LLVM's handlers run on the stack that crashed, which does not do for one that ran over.
void enable_recovery() {
  llvm::CrashRecoveryContext::Enable();
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    action.sa_flags |= SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

bool run_on_safe_thread(llvm::function_ref<void()> work) {
  static std::once_flag enabled;
  std::call_once(enabled, enable_recovery);
  std::vector<char> handler_stack(kHandlerStack);
  std::exception_ptr error;
  llvm::CrashRecoveryContext recovery;
  const bool survived = recovery.RunSafelyOnThread(
      [&] {
        stack_t stack = {};
        stack.ss_sp = handler_stack.data();
        stack.ss_size = handler_stack.size();
        sigaltstack(&stack, nullptr);
        try {
          work();
        } catch (...) {
          error = std::current_exception();
        }
      },
      kStack);
  if (error) std::rethrow_exception(error);
  return survived;
}

}  // namespace devsan::lint
