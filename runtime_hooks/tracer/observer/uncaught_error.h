// Errors about devices that no op raised and nobody caught.
#pragma once

#include <string>

#include "core/python_hooks.h"
#include "observer/thread_state.h"

namespace devsan::trace {

class OriginTable;
class Sink;

// A C++ exception about devices is thrown outside any op: by the autograd engine between two nodes,
// by a constructor, by the program itself. It is kept until it is known whether somebody catches
// it.
void note_loose_throw(const ThreadState& state, const std::string& message);

// A Python exception leaves the program, or a thread or process of it.
void report_uncaught(const PythonException& exception, OriginTable& origins, Sink& sink);

// The program ends by std::terminate with this exception.
void report_terminating(const std::string& message, Sink& sink);

}  // namespace devsan::trace
