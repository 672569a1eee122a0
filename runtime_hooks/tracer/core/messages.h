// Tells errors about devices from all others, by PyTorch's own words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace devsan::trace {

// Whether the error says that tensors are on different devices. Shape, type, memory, generator and
// kernel errors are not about that, however legal or not the mix beside them.
bool speaks_of_devices(std::string_view message);

// The argument that "but got mat2 is on cuda:0, different from other tensors on cuda:1" names.
std::optional<std::string> argument_named_in(std::string_view message);

// The first line, without the advice and traces that follow it.
std::string first_line(std::string_view message);

}  // namespace devsan::trace
