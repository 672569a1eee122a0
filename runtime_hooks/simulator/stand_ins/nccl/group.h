// ncclGroupStart and ncclGroupEnd: what one thread asks for between them is done together at the
// end, so that one thread can drive several devices, and sends and receives may stand in any order.
#pragma once

#include <functional>
#include <vector>

#include "simulator/stand_ins/nccl/work.h"

namespace devsan::sim::nccl {

// Of the calling thread; groups nest, and the outermost end does the work.
void start_group();
// Throws the first Failure of what the group held, also one that its call already returned.
void end_group();
// Forgets what the group holds instead of doing it.
void drop_group();

// Does it now, or at the end of the open group.
void submit(Work work);

// The same for making a communicator. Those of one `parent` are made in their order; null: it waits
// for nothing.
void submit(std::shared_ptr<Communicator> parent, std::function<void()> make);

// A call that the open group holds was refused.
void note_failure(const Failure& failure);

}  // namespace devsan::sim::nccl
