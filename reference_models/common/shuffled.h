// An order by chance that is the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace models {

// 0 … count - 1 in an order that depends on `seed` alone.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed);

}  // namespace models
