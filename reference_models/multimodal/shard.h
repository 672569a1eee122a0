// Which part of some rows each rank takes.
#pragma once

#include <cstddef>

namespace models::multimodal {

struct Slice {
  std::size_t begin;
  std::size_t end;
  constexpr std::size_t size() const { return end - begin; }
};

// Part `part` of `parts` of a slice. The parts follow one another without gap, and the largest has
// at most one row more than the smallest.
constexpr Slice part_of(Slice whole, std::size_t part, std::size_t parts) {
  return {whole.begin + whole.size() * part / parts,
          whole.begin + whole.size() * (part + 1) / parts};
}

}  // namespace models::multimodal
