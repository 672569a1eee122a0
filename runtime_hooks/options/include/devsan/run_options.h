// The options of `devsan run` as the traced process gets them: DEVSAN_OPTIONS=key=value:key=value,
// in the manner of sanitizers. Depends on the standard library alone: it is linked into preloaded
// code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace devsan {

namespace option_types {
using Int = std::int64_t;
using Bytes = std::uint64_t;
using Text = std::string;
using Version = std::string;  // "9.0", or empty
}  // namespace option_types

struct RunOptions {
#define DEVSAN_OPTION(type, name, default_value, values, help) \
  option_types::type name = default_value;
#include "devsan/run_options.inc"
#undef DEVSAN_OPTION
};

struct RunOptionInfo {
  std::string_view name;
  std::string_view default_text;
  std::string_view values;
  std::string_view help;
};

std::span<const RunOptionInfo> run_option_infos();

// Sets one option from text. Throws std::invalid_argument: one line that names the option, says
// what is wrong and what is accepted.
void set_run_option(RunOptions& options, std::string_view name, std::string_view value);

// Parses "key=value:key=value"; a value that holds a colon stands in single or double quotes. Later
// keys win. Throws std::invalid_argument as set_run_option does.
RunOptions parse_run_options(std::string_view text);

// The options that differ from their defaults, so that parse_run_options gives `options` back.
// Throws std::invalid_argument for a text that holds both kinds of quotes.
std::string format_run_options(const RunOptions& options);

// From DEVSAN_OPTIONS; the defaults when it is not set. Throws as parse_run_options does.
RunOptions run_options_from_environment();

// "80GiB", "512MiB", "16384" (bytes), "1.5GB" -> bytes. Throws std::invalid_argument.
std::uint64_t parse_bytes(std::string_view text);

}  // namespace devsan
