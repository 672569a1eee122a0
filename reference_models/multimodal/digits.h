// Handwritten digits: read from a file, split for training.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace models::multimodal {

inline constexpr std::int64_t kImageSide = 8;
inline constexpr int kMaxInk = 16;  // a pixel is 0 … 16

struct Digit {
  std::array<std::uint8_t, kImageSide * kImageSide> pixels;  // row by row
  int label;                                                 // 0 … 9
};

// Reads lines of 64 pixels and a label, with commas between. Throws UsageError with file, line and
// what is accepted.
std::vector<Digit> read_digits(const std::filesystem::path& path);

struct Split {
  std::vector<Digit> train;
  std::vector<Digit> held_out;
};

// Holds out a fifth of the images, by chance; images that are equal stay together. The same seed
// gives the same split on every machine. Throws UsageError when there are too few for ten labels.
Split split_digits(const std::vector<Digit>& digits, std::uint64_t seed);

}  // namespace models::multimodal
