// Address ranges and physical memory apart from each other (cuMemCreate, cuMemMap): what PyTorch's
// expandable segments are made of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/core/status.h"

namespace devsan::sim {

using PhysicalHandle = std::uint64_t;

// Sizes are multiples of this many bytes.
inline constexpr std::size_t kVirtualMemoryGranularity = std::size_t{2} << 20;

Status create_physical(int device, std::size_t bytes, PhysicalHandle* out);
Status release_physical(PhysicalHandle handle);

Status reserve_range(std::size_t bytes, void** out);
Status release_range(void* base, std::size_t bytes);

Status map_range(void* base, std::size_t bytes, std::size_t offset, PhysicalHandle handle);
Status unmap_range(void* base, std::size_t bytes);

}  // namespace devsan::sim
