// Arithmetic of the reductions, element by element, as NCCL's kernels do it: each step is rounded
// to the data's type, integers wrap around, and min and max pass over a NaN where there is a
// number.
#pragma once

#include <nccl.h>

#include <cstddef>

#include "simulator/stand_ins/nccl/call.h"

namespace devsan::sim::nccl {

// into[i] = into[i] (op) from[i] for `count` elements. An average and a premultiplied sum add up.
// Both aligned as their type asks.
void combine(void* into, const void* from, std::size_t count, ncclDataType_t type, Reduction op);

// into[i] = from[i] * *scalar, `scalar` of the same type. Need not be aligned.
void premultiply(void* into, const void* from, std::size_t count, ncclDataType_t type,
                 const void* scalar);

// Copies what a rank gives to an average: for floating types divided by the number of ranks, so
// that the sum does not overflow; integers are divided when they have been added up.
void copy_for_average(void* into, const void* from, std::size_t count, ncclDataType_t type,
                      int ranks);
void finish_average(void* values, std::size_t count, ncclDataType_t type, int ranks);

}  // namespace devsan::sim::nccl
