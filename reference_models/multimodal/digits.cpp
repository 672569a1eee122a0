// The file of digits and its split.
#include "digits.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "common/shuffled.h"
#include "common/usage_error.h"

namespace models::multimodal {
namespace {

constexpr std::size_t kPixels = kImageSide * kImageSide;

// `column` counts the fields of a line from 1; the last is the label.
int parse_field(const std::string& place, std::size_t column, std::string_view text) {
  const bool is_label = column == kPixels + 1;
  const int most = is_label ? 9 : kMaxInk;
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most) {
    throw UsageError(fmt::format("{}: field {} is '{}'; accepted: {} from 0 to {}", place, column,
                                 text, is_label ? "a label" : "a pixel", most));
  }
  return value;
}

Digit parse_line(const std::string& place, std::string_view line) {
  Digit digit{};
  for (std::size_t column = 1; column <= kPixels + 1; ++column) {
    const auto comma = line.find(',');
    const bool is_last = comma == std::string_view::npos;
    if (is_last != (column == kPixels + 1)) {
      throw UsageError(
          fmt::format("{}: not a digit; accepted: {} pixels and a label, with commas "
                      "between",
                      place, kPixels));
    }
    const int value = parse_field(place, column, line.substr(0, comma));
    if (is_last) {
      digit.label = value;
    } else {
      digit.pixels[column - 1] = static_cast<std::uint8_t>(value);
      line.remove_prefix(comma + 1);
    }
  }
  return digit;
}

}  // namespace

std::vector<Digit> read_digits(const std::filesystem::path& path) {
  const std::string where = path.string();
  std::ifstream file(path);
  if (!file || !std::filesystem::is_regular_file(path)) {
    throw UsageError(fmt::format("{}: no such file, or not one that can be read", where));
  }
  std::vector<Digit> digits;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) digits.push_back(parse_line(fmt::format("{}:{}", where, number), line));
  }
  return digits;
}

Split split_digits(const std::vector<Digit>& digits, std::uint64_t seed) {
  constexpr std::size_t kParts = 5;
  constexpr std::size_t kFewest = 50;
  if (digits.size() < kFewest) {
    throw UsageError(
        fmt::format("the data has {} digits; at least {} are needed", digits.size(), kFewest));
  }
  std::map<std::array<std::uint8_t, kPixels>, std::vector<std::size_t>> rows_of_image;
  for (std::size_t row = 0; row < digits.size(); ++row) {
    rows_of_image[digits[row].pixels].push_back(row);
  }
  std::vector<const std::vector<std::size_t>*> images;
  for (const auto& [pixels, rows] : rows_of_image) images.push_back(&rows);

  Split split;
  const auto order = shuffled(images.size(), seed);
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto& side = i < order.size() / kParts ? split.held_out : split.train;
    for (const std::size_t row : *images[order[i]]) side.push_back(digits[row]);
  }
  return split;
}

}  // namespace models::multimodal
