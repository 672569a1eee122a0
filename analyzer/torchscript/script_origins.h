// Which line of the user's Python a place in an archive's code was made from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace devsan::lint {

class Pickle;

struct ScriptOrigin {
  std::string file;
  int line = 0;
};

class ScriptOrigins {
 public:
  ScriptOrigins() = default;
  // `ranges` is the content of a .debug_pkl. What is not as expected in it is left out.
  explicit ScriptOrigins(const Pickle& ranges);

  // `offset` into the code, in bytes.
  std::optional<ScriptOrigin> at(std::size_t offset) const;

 private:
  struct Range {
    std::size_t offset = 0;  // where it begins in the code
    ScriptOrigin origin;
  };

  std::vector<Range> ranges_;  // ascending
};

}  // namespace devsan::lint
