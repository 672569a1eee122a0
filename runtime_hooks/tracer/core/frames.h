// Frames of a program, and whose code each is: users see their own first, the inside of PyTorch not
// at all.
#pragma once

#include <span>
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

// Whether the frame is PyTorch's call of a module, which runs its hooks and its forward pass.
bool is_module_call(const Frame& frame);

// Whether the file is of Python's standard library.
bool is_standard_library(std::string_view file);

// "accelerate/hooks.py" of a file of an installed package; the file's own name for others.
std::string package_path(std::string_view file);

// "ns::Type" of "ns::Type::function", "Type" of "Type.function"; empty for a function of no type.
// Arguments of templates are left out.
std::string owning_type(std::string_view function);

// The type whose constructor the function is (`Type::Type`, `Type.__init__`); empty for others.
std::string constructed_type(std::string_view function);

bool has_constructor(std::span<const OwnedFrame> frames);

// The innermost frame that is not internal, the user's or a library's; null when there is none.
const OwnedFrame* innermost_shown_frame(const Stack& stack);

// The innermost frame of the user's; null when there is none.
const OwnedFrame* innermost_user_frame(const Stack& stack);

// The innermost frame of the user's and all around it: a call of a function of the user's. Empty
// where there is none.
std::span<const OwnedFrame> innermost_user_call(const Stack& stack);

// Whether the stack runs through the same call of the same function, at whatever line of it. What
// lies inside is `inside` then, if asked for.
bool runs_through(const Stack& stack, std::span<const OwnedFrame> call,
                  std::span<const OwnedFrame>* inside = nullptr);

// What a report shows: the user's frames, and of libraries the one that is innermost of all. A
// stack without any frame of the user's is shown with all its library frames.
std::vector<Frame> shown_frames(const Stack& stack);

}  // namespace devsan::trace
