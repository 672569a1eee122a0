// Parser and printer of DEVSAN_OPTIONS, made from run_options.inc.
#include "devsan/run_options.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <type_traits>

namespace devsan {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view accepted) {
  std::string line = "option ";
  line.append(name).append(": '").append(value).append("' is not accepted; give ").append(accepted);
  throw std::invalid_argument(line);
}

bool one_of(std::string_view choices, std::string_view value) {
  while (true) {
    const auto bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    if (bar == choices.npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

bool to_int(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// "0..64"
bool in_range(std::string_view range, std::int64_t value) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  const auto dots = range.find("..");
  return to_int(range.substr(0, dots), low) && to_int(range.substr(dots + 2), high) &&
         value >= low && value <= high;
}

void read(option_types::Int& out, std::string_view name, std::string_view values,
          std::string_view text) {
  std::int64_t value = 0;
  const bool choice = values.find('|') != values.npos;
  if (!to_int(text, value) || (choice ? !one_of(values, text) : !in_range(values, value))) {
    refuse(name, text, values);
  }
  out = value;
}

void read(option_types::Bytes& out, std::string_view name, std::string_view,
          std::string_view text) {
  try {
    out = parse_bytes(text);
  } catch (const std::invalid_argument&) {
    refuse(name, text, "a size such as 80GiB, 512MiB or a number of bytes");
  }
}

void read(option_types::Text& out, std::string_view name, std::string_view values,
          std::string_view text) {
  if (values.find('|') != values.npos && !one_of(values, text)) refuse(name, text, values);
  if (values == "X.Y") {
    std::int64_t part = 0;
    const auto dot = text.find('.');
    if (dot == text.npos || !to_int(text.substr(0, dot), part) ||
        !to_int(text.substr(dot + 1), part)) {
      refuse(name, text, "a version such as 9.0");
    }
  }
  out = std::string(text);
}

std::string quoted(std::string_view name, const std::string& value) {
  if (value.find_first_of(":'\"") == value.npos) return value;
  const char quote = value.find('\'') == value.npos ? '\'' : '"';
  if (value.find(quote) != value.npos) {
    refuse(name, value, "a text without both kinds of quotes");
  }
  return quote + value + quote;
}

template <class T>
std::string printed(std::string_view name, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return quoted(name, value);
  } else {
    return std::to_string(value);
  }
}

}  // namespace

std::span<const RunOptionInfo> run_option_infos() {
  static constexpr RunOptionInfo kInfos[] = {
#define DEVSAN_OPTION(type, name, default_value, values, help) \
  {#name, #default_value, values, help},
#include "devsan/run_options.inc"
#undef DEVSAN_OPTION
  };
  return kInfos;
}

void set_run_option(RunOptions& options, std::string_view name, std::string_view value) {
#define DEVSAN_OPTION(type, option, default_value, values, help) \
  if (name == #option) return read(options.option, name, values, value);
#include "devsan/run_options.inc"
#undef DEVSAN_OPTION
  std::string known;
  for (const RunOptionInfo& info : run_option_infos()) {
    known.append(known.empty() ? "" : ", ").append(info.name);
  }
  throw std::invalid_argument("no option is called '" + std::string(name) + "'; there are " +
                              known);
}

RunOptions parse_run_options(std::string_view text) {
  RunOptions options;
  while (!text.empty()) {
    const auto equals = text.find('=');
    const auto colon = text.find(':');
    if (equals == text.npos || colon < equals) {
      throw std::invalid_argument("DEVSAN_OPTIONS: '" + std::string(text.substr(0, colon)) +
                                  "' has no value; give key=value:key=value");
    }
    const std::string_view name = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    std::string_view value;
    if (!text.empty() && (text[0] == '\'' || text[0] == '"')) {
      const auto close = text.find(text[0], 1);
      if (close == text.npos) {
        throw std::invalid_argument("DEVSAN_OPTIONS: the quote of " + std::string(name) +
                                    " is not closed");
      }
      value = text.substr(1, close - 1);
      text.remove_prefix(close + 1);
    } else {
      value = text.substr(0, text.find(':'));
      text.remove_prefix(value.size());
    }
    set_run_option(options, name, value);
    if (!text.empty() && text[0] != ':') {
      throw std::invalid_argument("DEVSAN_OPTIONS: a colon is missing behind the value of " +
                                  std::string(name));
    }
    if (!text.empty()) text.remove_prefix(1);
  }
  return options;
}

std::string format_run_options(const RunOptions& options) {
  const RunOptions defaults;
  std::string text;
#define DEVSAN_OPTION(type, name, default_value, values, help)                                   \
  if (options.name != defaults.name) {                                                           \
    text.append(text.empty() ? "" : ":").append(#name "=").append(printed(#name, options.name)); \
  }
#include "devsan/run_options.inc"
#undef DEVSAN_OPTION
  return text;
}

RunOptions run_options_from_environment() {
  const char* text = std::getenv("DEVSAN_OPTIONS");
  return text == nullptr ? RunOptions{} : parse_run_options(text);
}

std::uint64_t parse_bytes(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr Unit kUnits[] = {{"", 1},
                                    {"B", 1},
                                    {"KiB", 1024.0},
                                    {"KB", 1e3},
                                    {"MiB", 1048576.},
                                    {"MB", 1e6},
                                    {"GiB", 1073741824.},
                                    {"GB", 1e9},
                                    {"TiB", 1099511627776.},
                                    {"TB", 1e12}};
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& known : kUnits) {
    if (error == std::errc() && known.name == unit && number >= 0 && number * known.bytes < 1e18) {
      return static_cast<std::uint64_t>(std::llround(number * known.bytes));
    }
  }
  throw std::invalid_argument("'" + std::string(text) +
                              "' is not a size; give a number of bytes or 80GiB");
}

}  // namespace devsan
