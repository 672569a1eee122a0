// Frames of a program, and whose code each is: users see their own first, the inside of PyTorch not
// at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan::trace {

enum class Owner {
  kUser,
  kLibrary,   // installed packages and the standard library: shown where it matters
  kInternal,  // PyTorch, the Python runtime, the C and C++ libraries, ourselves: never shown
};

struct OwnedFrame {
  Frame frame;
  Owner owner = Owner::kUser;
};

// Innermost first, as everywhere.
using Stack = std::vector<OwnedFrame>;

Owner owner_of_python(std::string_view file);

// `file` may be empty (no line table), `function` is demangled.
Owner owner_of_native(std::string_view module_path, std::string_view function,
                      std::string_view file);

// Whether nothing of the module (a shared library or the executable) is ever shown, so that its
// addresses need no symbols.
bool is_internal_module(std::string_view path);

// "ns::Type::function" of "ns::Type::function(int) const".
std::string without_parameters(std::string_view function);

// Whether the frame is the forward pass of a module: a function named forward, or PyTorch's call of
// it.
bool is_forward(const Frame& frame);

// The innermost frame of the user's; null when there is none.
const OwnedFrame* innermost_user_frame(const Stack& stack);

// What a report shows: the user's frames, and of libraries the one that is innermost of all. A
// stack without any frame of the user's is shown with all its library frames.
std::vector<Frame> shown_frames(const Stack& stack);

}  // namespace devsan::trace
