// C++ frames: which shared library an address is in, and its function, file and line.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/frames.h"
#include "core/stacks.h"

namespace devsan::trace {

// Program counters (return addresses, innermost first) to frames, with the frames that the compiler
// inlined. Runs addr2line once a module: for reports only. Modules that are never shown are not
// looked up. Without addr2line there are function names of exported functions only, and one line on
// stderr says so.
Stack symbolize_native(std::span<const std::uintptr_t> counters);

// Whether one of the counters is in a library that is neither PyTorch's nor a runtime's; by its
// path alone, which is quick.
bool runs_through_library(std::span<const std::uintptr_t> counters);

// Stacks of program counters. Nothing needs pinning: code that is unloaded only loses its symbols.
StackId intern_native(std::span<const std::uintptr_t> counters);
std::span<const std::uintptr_t> native_stack_words(StackId id);

}  // namespace devsan::trace
