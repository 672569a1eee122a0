// The shuffle, written out.
#include "shuffled.h"

#include <numeric>
#include <random>
#include <utility>

namespace models {

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  // Fisher-Yates by hand: what std::shuffle draws differs between standard libraries.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 generator(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[generator() % i]);
  return order;
}

}  // namespace models
