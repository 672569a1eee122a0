// The ops that are running in a thread, outermost first.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include <c10/util/SmallVector.h>

#include "core/origin.h"
#include "observer/compat.h"
#include "observer/op_names.h"

namespace devsan::trace {

// A tensor that went into an op. The op's caller keeps it alive while the op runs; the boxed
// argument it was read from is gone by then.
struct Input {
  c10::TensorImpl* tensor;
  c10::StorageImpl* storage;
  std::int16_t argument;
  std::int16_t element;  // in a list; -1: not in one
};

struct ActiveOp {
  const at::RecordFunction* record = nullptr;
  const OpName* name = nullptr;  // set for outermost ops and ranges
  int exceptions = 0;            // std::uncaught_exceptions() when it began
  bool range = false;     // not an op: see OpName::Kind::kRange, and nodes of a backward pass
  bool backward = false;  // a node of a backward pass
  bool generated_backward = false;  // PyTorch's own derivative: no code of the user's runs in it
  bool mixed = false;               // inputs on more than one device
  bool has_site = false;
  Device first_device;
  Site site;
  std::uint64_t number = 0;         // of the op, over all threads
  std::int64_t node_sequence = -1;  // autograd's
  std::uint64_t forward_thread = 0;
  c10::SmallVector<Input, 8> inputs;
};

struct Failure;  // failure.h

struct ThreadState {
  ThreadState();
  ~ThreadState();

  std::deque<ActiveOp> ops;  // the first `depth` are running; elements are used again
  std::size_t depth = 0;
  std::size_t op_depth = 0;          // of those, ops rather than ranges
  std::size_t outermost = 0;         // index of the outermost op, while op_depth > 0
  bool busy = false;                 // the tracer itself is at work: its ops are not the program's
  std::unique_ptr<Failure> failure;  // an error about devices that is on its way out
  // What common_device_check_failure said just before its error is thrown.
  const c10::TensorImpl* checked_tensor = nullptr;

  // The backward node that ended last: what the engine throws between two nodes is about it.
  std::int64_t last_node_sequence = -1;
  std::uint64_t last_node_thread = 0;

  ActiveOp& push();
  const ActiveOp* innermost_backward() const;
};

// Made at a thread's first op and never destroyed before the thread's last.
ThreadState& thread_state();

// Sets `busy` while the tracer runs code that may call ops.
class Busy {
 public:
  explicit Busy(ThreadState& state) : state_(state) { state_.busy = true; }
  ~Busy() { state_.busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  ThreadState& state_;
};

}  // namespace devsan::trace
