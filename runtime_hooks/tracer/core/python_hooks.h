// What a running interpreter tells the tracer: exceptions that leave the program, and its end.
#pragma once

#include <string>
#include <vector>

#include "core/frames.h"

namespace devsan::trace {

// A tensor that a raising function had in hand. Alive while on_uncaught runs.
struct TensorInHand {
  std::uintptr_t tensor = 0;   // TensorImpl
  std::uintptr_t storage = 0;  // StorageImpl, 0 for none
  std::string name;            // as the program spells it: loss, self.total, inputs["ids"]
  bool mentioned = false;      // the raising statement names it
};

struct PythonException {
  std::string type;
  std::string message;
  Stack stack;  // of the traceback, innermost first
  std::vector<TensorInHand> tensors;
};

struct PythonHooks {
  // Whether the exception would be reported: looking for its tensors costs time.
  bool (*wants)(const std::string& message);
  void (*on_uncaught)(const PythonException& exception);
  void (*on_ending)();
};

// To be called once, when python::attached() holds. `hooks` must not throw.
void install_python_hooks(const PythonHooks& hooks);

}  // namespace devsan::trace
