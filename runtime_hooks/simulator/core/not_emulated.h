// How the simulator says that it does not do something: by name, and so that it cannot be
// overlooked.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace devsan::sim {

// Thrown where a caller might not look at a status: kernel launches and calls of the math
// libraries.
class NotEmulated : public std::runtime_error {
 public:
  // "devsan simulator: <what> is not emulated"
  explicit NotEmulated(const std::string& what);
};

// Remembers for this thread which call was answered with kNotSupported, and returns that status.
// `name` must live on, as a literal does.
int not_supported(const char* name);

// The last name given to not_supported() on this thread, empty if there was none.
std::string_view last_not_supported();

}  // namespace devsan::sim
