// Sees every op of every thread through PyTorch's RecordFunction.
#pragma once

#include "core/sink.h"
#include "observer/origin_table.h"
#include "observer/thread_state.h"

namespace devsan::trace {

struct ObserverOptions {
  // 0 none, 1 where tensors were made and moved, 2 every op, with C++ frames everywhere
  int origins = 1;
  // Called in the program's first op, which is later than the opening of the tracer: another thread
  // may wait for that with the GIL held.
  void (*at_first_op)() = nullptr;
};

// Registers the callbacks. `sink` and the tables live as long as the process. To be called once.
void start_observing(const ObserverOptions& options, Sink& sink);

// Reports the op that is ending the program by std::terminate, if its error is about devices.
void report_before_end(ThreadState& state);

// Stops it again, for a failed self-check.
void stop_observing();

// What the process has done so far, for reports.
std::int64_t optimizer_steps();
std::int64_t collectives_seen();
std::int64_t ops_seen_so_far();
void count_optimizer_step();

// The origins of the program's storages.
OriginTable& origin_table();

// The calling thread's stack. `always_native`: C++ frames also in Python programs.
Site capture_site(bool always_native);

}  // namespace devsan::trace
