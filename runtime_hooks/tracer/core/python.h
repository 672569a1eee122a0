// Python's side of a stack, read through the running interpreter's own functions (by dlsym: nothing
// here links to Python, and a C++ program has none).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/frames.h"
#include "core/stacks.h"

namespace devsan::trace::python {

// Finds the interpreter in this process. False when there is none: then nothing below may be
// called.
bool attach();
bool attached();

// The calling thread's Python frames; kNoStack in a thread that runs no Python. Costs some 20 ns
// without the GIL where the layout of frames is known (3.11), else takes the GIL, slowly. Either
// way a stack seen for the first time takes the GIL to keep its code objects alive.
StackId capture();

// Frames of a stack that capture() gave. Takes the GIL.
Stack symbolize(StackId id);

// Runs `script` with `argument` (a JSON text) as the variable `request` and gives the text it left
// in `answer`; empty when it raised or Python is ending. Takes the GIL; an exception in flight
// stays so.
std::string run(const char* script, const std::string& argument);

// A function that a script may call with one text, for another. It is called with the GIL held and
// must not throw.
struct Callback {
  const char* name;
  std::string (*call)(const std::string& text);
};

// As above, with functions for the script. They may be called for as long as the interpreter lives.
std::string run(const char* script, const std::string& argument,
                std::span<const Callback> callbacks);

// How frames are read, for --verbose: "3.11 frames without the GIL".
std::string_view how();

}  // namespace devsan::trace::python
