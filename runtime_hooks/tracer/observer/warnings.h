// What is counted over the run and said at its end, and kept meanwhile for a process that is
// killed.
#pragma once

#include "core/collective.h"
#include "core/sink.h"
#include "observer/placement_log.h"

namespace devsan::trace {

PlacementLog& placements();

// A collective on a tensor on this GPU.
void note_collective_on(Device device);

// What the process knows of itself. Takes the GIL where the launcher's variables are not set.
ReportedProcess reported_process();

// Where the process uses GPUs: for reports of collectives.
DeviceUse device_use();

// Moves to GPUs that took data from somewhere else, by place.
std::vector<RunMove> moves_so_far();

// Facts that all findings of the process share, as of now.
RunFacts run_facts();

// Makes the warnings anew and hands them to the sink.
void report_warnings(Sink& sink);

// The same, but seldom: when something was counted since, half a second or more has passed, and a
// hundred times what it cost the last time. To be called between optimizer steps.
void report_warnings_now_and_then(Sink& sink);

}  // namespace devsan::trace
