// Bookkeeping of running ops.
#include "observer/thread_state.h"

#include "observer/failure.h"

namespace devsan::trace {

ThreadState::ThreadState() = default;
ThreadState::~ThreadState() = default;

ActiveOp& ThreadState::push() {
  if (ops.size() <= depth) ops.emplace_back();
  ActiveOp& op = ops[depth++];
  op.inputs.clear();
  op.name = nullptr;
  op.range = op.backward = op.generated_backward = op.mixed = op.has_site = false;
  op.site = {};
  op.number = 0;
  op.node_sequence = -1;
  return op;
}

const ActiveOp* ThreadState::innermost_backward() const {
  for (std::size_t i = depth; i > 0; --i) {
    if (ops[i - 1].backward) return &ops[i - 1];
  }
  return nullptr;
}

ThreadState& thread_state() {
  // Destructors of a thread's other variables may still run ops: it is left to the process.
  static thread_local ThreadState* state = new ThreadState;
  return *state;
}

}  // namespace devsan::trace
