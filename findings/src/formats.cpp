// Which format a file's ending asks for.
#include <fmt/format.h>

#include "devsan/findings/writers.h"

namespace devsan {

Format format_of_file(std::string_view path) {
  if (path.ends_with(".json")) return Format::kJson;
  if (path.ends_with(".sarif")) return Format::kSarif;
  if (path.ends_with(".txt")) return Format::kText;
  throw std::invalid_argument(fmt::format(
      "report file '{}': the ending says the format; give .json, .sarif or .txt", path));
}

}  // namespace devsan
