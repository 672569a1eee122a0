// The process group of a collective, from the arguments of its op.
#pragma once

#include "observer/compat.h"

namespace devsan::trace {

// Notes rank and size of the group that the collective is for (see note_process_group).
void note_group_of(const at::RecordFunction& record);

}  // namespace devsan::trace
