// A thread that clang may crash on.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace devsan::lint {

// Runs `work` on a thread of its own, with a stack for deep code, and waits for it. False when it
// crashed, a stack that ran over included; what it held is lost then. Throws what `work` throws.
bool run_on_safe_thread(llvm::function_ref<void()> work);

}  // namespace devsan::lint
