// Where a CPython release keeps the frames of a thread, for reading them without the GIL.
//
// A thread's chain of frames is changed by that thread alone, and ops run in it: reading is safe as
// long as the offsets are right. They are checked against the official functions at the first use.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace devsan::trace::python {

struct FrameLayout {
  std::string_view version;       // what Py_GetVersion() starts with
  std::size_t thread_cframe;      // PyThreadState -> _PyCFrame*
  std::size_t cframe_current;     // _PyCFrame -> _PyInterpreterFrame*
  std::size_t frame_code;         // _PyInterpreterFrame -> PyCodeObject*
  std::size_t frame_previous;     // -> _PyInterpreterFrame*
  std::size_t frame_instruction;  // -> last instruction
  std::size_t code_instructions;  // start of the instructions in a PyCodeObject
};

// One line a release; any other is walked with the GIL held.
inline constexpr std::array kFrameLayouts = {
    FrameLayout{"3.11.", 56, 8, 32, 48, 56, 184},
};

}  // namespace devsan::trace::python
