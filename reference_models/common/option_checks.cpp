// The checks, as CLI11 takes them.
#include "option_checks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace models {

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const std::string range = fmt::format("a whole number from {} to {}", least, most);
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        std::int64_t value = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && stop == end && value >= least && value <= most) return {};
        return fmt::format("'{}'; accepted: {}", text, range);
      },
      "");
}

CLI::Validator positive_number() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && stop == end && value > 0 && std::isfinite(value)) return {};
        return fmt::format("'{}'; accepted: a number above 0", text);
      },
      "");
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  const std::string list = fmt::format("{}", fmt::join(names, ", "));
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        if (std::find(names.begin(), names.end(), text) != names.end()) return {};
        return fmt::format("'{}'; accepted: {}", text, list);
      },
      "");
}

}  // namespace models
