// Names that come out of an archive, fit to be shown: they may hold any bytes.
#pragma once

#include <string>
#include <string_view>

namespace devsan::lint {

// At most `longest` bytes of printable ASCII; '?' stands for what is none.
inline std::string printable(std::string_view name, std::size_t longest = 200) {
  std::string shown(name.substr(0, longest));
  for (char& letter : shown) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return shown;
}

}  // namespace devsan::lint
