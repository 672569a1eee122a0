// The two callbacks, and origins of what ops make. Every line here runs at every op of the program.
#include "observer/observer.h"

#include <atomic>
#include <cctype>
#include <cstring>
#include <exception>

#include "core/native.h"
#include "core/python.h"
#include "observer/failure.h"
#include "observer/forward_sites.h"
#include "observer/process_groups.h"
#include "observer/warnings.h"

namespace devsan::trace {
namespace {

ObserverOptions options;
Sink* findings = nullptr;
OriginTable& origins = *new OriginTable;
at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;

std::atomic<std::uint64_t> ops_seen{0};
std::atomic<std::int64_t> steps{0};
std::atomic<std::int64_t> collectives{0};

bool is_optimizer_step(const at::RecordFunction& record) {
  return std::strncmp(record.name(), "Optimizer.step#", 15) == 0;
}

// "MulBackward0": generated nodes end in a digit, those of Python's and C++'s Functions do not.
bool is_generated_node(const char* name) {
  const std::size_t length = std::strlen(name);
  return (length > 0 && std::isdigit(static_cast<unsigned char>(name[length - 1]))) ||
         std::strcmp(name, "torch::autograd::AccumulateGrad") == 0;
}

void read_inputs(ActiveOp& op, const at::RecordFunction& record) {
  bool first = true;
  std::int16_t argument = 0;
  for (const c10::IValue& value : record.inputs()) {
    for_each_tensor(value, [&](const at::Tensor& tensor, int element) {
      c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
      const std::optional<Device> device = device_of(impl);
      if (!device) return;
      if (first) op.first_device = *device;
      if (*device != op.first_device) op.mixed = true;
      first = false;
      op.inputs.push_back({impl, storage_of(impl), argument, static_cast<std::int16_t>(element)});
    });
    ++argument;
  }
}

// The site of the outermost op, which is that of all inside it. In PyTorch's own derivatives it is
// the forward op's: nothing of the user's is on the stack.
const Site& site_of(ThreadState& state, ActiveOp& op) {
  if (op.has_site) return op.site;
  op.has_site = true;
  const ActiveOp* node = state.innermost_backward();
  if (node && node->generated_backward) {
    op.site = forward_site(node->forward_thread, node->node_sequence).site;
  } else {
    op.site = capture_site(options.origins >= 2);
  }
  return op.site;
}

std::shared_ptr<Origin> new_origin(ThreadState& state, ActiveOp& op, Origin::Kind kind,
                                   Device device) {
  auto origin = std::make_shared<Origin>();
  origin->kind = kind;
  origin->device = device;
  origin->op = op.name->text;
  origin->site = site_of(state, op);
  origin->sequence = op.number;
  const ActiveOp* node = state.innermost_backward();
  origin->backward = node && node->generated_backward;
  return origin;
}

Moment now(const ActiveOp& op) {
  return {steps.load(std::memory_order_relaxed), collectives.load(std::memory_order_relaxed),
          op.number};
}

// For the counts of where tensors come to devices; `from` differs from the origin's device where
// the tensor was moved. Gradients take the way of their tensors back: they decide nothing.
void count_placement(const ActiveOp& op, const Origin& origin, Device from,
                     const c10::TensorImpl* tensor, const OriginRef& source) {
  if (origin.backward || (from == origin.device && origin.device.is_cpu())) return;
  placements().add({origin.kind, from, origin.device, origin.op, origin.site}, tensor, source,
                   now(op));
}

// Numbers that were made tensors for one call have no history worth keeping.
bool is_number(const c10::TensorImpl* tensor) {
  return tensor->is_wrapped_number();
}

void note_first_seen(ThreadState& state, ActiveOp& op) {
  for (const Input& input : op.inputs) {
    if (!input.storage || is_number(input.tensor) || origins.knows(input.storage)) continue;
    auto origin =
        new_origin(state, op, Origin::Kind::kFirstSeen, to_device(input.storage->device()));
    count_placement(op, *origin, origin->device, input.tensor, nullptr);
    origins.set_made(input.tensor->unsafe_storage(), std::move(origin));
  }
}

struct Beside {
  const Input* input = nullptr;
  OriginRef made;
};

// Of the inputs on the device, the one that got there last: of an activation and a weight, the
// activation. Looks at the first four; longer lists (stack, cat) are all of a kind.
Beside newest_on(const ActiveOp& op, Device device) {
  constexpr int kLookedAt = 4;
  Beside newest;
  int looked_at = 0;
  for (const Input& input : op.inputs) {
    if (!input.storage || is_number(input.tensor) || to_device(input.storage->device()) != device)
      continue;
    OriginRef made = origins.find(input.storage).made;
    if (!newest.input || (made && (!newest.made || made->sequence > newest.made->sequence))) {
      newest = {&input, std::move(made)};
    }
    if (++looked_at == kLookedAt) break;
  }
  return newest;
}

// A new storage came out of the op.
void note_made(ThreadState& state, ActiveOp& op, const c10::TensorImpl* result) {
  const Device device = to_device(storage_of(result)->device());
  if (op.name->kind == OpName::Kind::kSetStorage) {
    if (!origins.knows(storage_of(result))) {
      auto origin = new_origin(state, op, Origin::Kind::kFirstSeen, device);
      count_placement(op, *origin, device, result, nullptr);
      origins.set_made(result->unsafe_storage(), std::move(origin));
    }
    return;
  }
  const bool recast = op.name->kind == OpName::Kind::kRecast;
  const bool only_input = recast || op.inputs.size() == 1;
  const Input* source = only_input && !op.inputs.empty() ? &op.inputs.front() : nullptr;
  std::shared_ptr<Origin> origin;
  if (source && source->storage && to_device(source->storage->device()) != device) {
    origin = new_origin(state, op, Origin::Kind::kMoved, device);
    OriginRef moved = origins.find(source->storage).made;
    count_placement(op, *origin, to_device(source->storage->device()), result, moved);
    link(*origin, std::move(moved), Origin::Link::kSame);
  } else {
    origin = new_origin(state, op, Origin::Kind::kCreated, device);
    Beside beside = newest_on(op, device);
    if (!beside.input) count_placement(op, *origin, device, result, nullptr);
    if (options.origins >= 2) {  // keep every op, up to the limit of a chain
      link(*origin, std::move(beside.made),
           only_input ? Origin::Link::kSame : Origin::Link::kBeside);
    } else {
      Cause cause = cause_of_device(beside.made, only_input);
      link(*origin, std::move(cause.origin), cause.link);
    }
  }
  origins.set_made(result->unsafe_storage(), std::move(origin));
}

// Data came from another device into a storage that was there.
void note_filled(ThreadState& state, ActiveOp& op) {
  const Input& target = op.inputs[0];
  const Input& source = op.inputs[1];
  if (!target.storage || !source.storage) return;
  auto origin = new_origin(state, op, Origin::Kind::kFilled, to_device(target.storage->device()));
  OriginRef copied = origins.find(source.storage).made;
  count_placement(op, *origin, to_device(source.storage->device()), source.tensor, copied);
  link(*origin, std::move(copied), Origin::Link::kSame);
  origins.set_filled(target.storage, std::move(origin));
}

void note_results(ThreadState& state, ActiveOp& op, const at::RecordFunction& record) {
  for (const c10::IValue& value : record.outputs()) {
    for_each_tensor(value, [&](const at::Tensor& tensor, int) {
      const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
      const c10::StorageImpl* storage = storage_of(impl);
      if (!storage || is_number(impl)) return;
      for (const Input& input : op.inputs) {
        if (input.storage == storage) return;  // a view, or changed in place
      }
      note_made(state, op, impl);
    });
  }
  if (op.name->kind == OpName::Kind::kCopyInto && op.mixed && op.inputs.size() >= 2)
    note_filled(state, op);
}

void begin_backward(ThreadState& state, const at::RecordFunction& record) {
  ActiveOp& node = state.push();
  node.record = &record;
  node.exceptions = std::uncaught_exceptions();
  node.range = node.backward = true;
  node.generated_backward = is_generated_node(record.name());
  node.node_sequence = record.seqNr();
  node.forward_thread = record.forwardThreadId();
}

void begin_outermost(ThreadState& state, ActiveOp& op, const at::RecordFunction& record) {
  state.failure.reset();
  op.number = ops_seen.fetch_add(1, std::memory_order_relaxed) + 1;
  if (op.number == 1 && options.at_first_op) {
    const Busy busy(state);
    options.at_first_op();
  }
  if (op.name->kind == OpName::Kind::kCollective) {
    collectives.fetch_add(1, std::memory_order_relaxed);
    note_group_of(record);
    if (!op.inputs.empty()) note_collective_on(op.first_device);
  }
  if (options.origins > 0) note_first_seen(state, op);
}

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& record) {
  ThreadState& state = thread_state();
  if (state.busy || record.isAsync()) return nullptr;
  if (record.scope() == at::RecordScope::USER_SCOPE) return nullptr;
  if (record.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    begin_backward(state, record);
    return nullptr;
  }
  ActiveOp& op = state.push();
  op.record = &record;
  op.exceptions = std::uncaught_exceptions();
  if (state.op_depth == 0) {
    op.name = &op_name(record);
    if (op.name->kind == OpName::Kind::kRange) {
      op.range = true;
      // A Function of the user's: no op of its own records where its node was made.
      if (options.origins > 0 && record.seqNr() >= 0 && !state.innermost_backward()) {
        record_forward_site(record.seqNr(), op.name->text, capture_site(options.origins >= 2));
      }
      return nullptr;
    }
    state.outermost = state.depth - 1;
  }
  ++state.op_depth;
  read_inputs(op, record);
  if (state.op_depth == 1) begin_outermost(state, op, record);
  if (options.origins > 0 && record.seqNr() >= 0 && !state.innermost_backward()) {
    ActiveOp& outermost = state.ops[state.outermost];
    record_forward_site(record.seqNr(), outermost.name->text, site_of(state, outermost));
  }
  return nullptr;
}

void end_outermost(ThreadState& state, ActiveOp& op, const at::RecordFunction& record) {
  if (std::uncaught_exceptions() > op.exceptions) {
    report_failure(state, op, origins, *findings);
  } else if (options.origins > 0) {
    note_results(state, op, record);
  }
  state.failure.reset();
}

void on_end(const at::RecordFunction& record, at::ObserverContext*) {
  ThreadState& state = thread_state();
  if (state.busy) return;
  if (record.scope() == at::RecordScope::USER_SCOPE) {
    if (is_optimizer_step(record)) count_optimizer_step();
    return;
  }
  std::size_t index = state.depth;
  while (index > 0 && state.ops[index - 1].record != &record) --index;
  if (index == 0) return;  // began while the tracer was not looking
  --index;
  ActiveOp& op = state.ops[index];
  if (!op.range && state.outermost == index) end_outermost(state, op, record);
  if (op.backward) {
    state.last_node_sequence = op.node_sequence;
    state.last_node_thread = op.forward_thread;
  }
  for (std::size_t i = index; i < state.depth; ++i) {
    if (!state.ops[i].range) --state.op_depth;
  }
  state.depth = index;
}

}  // namespace

void start_observing(const ObserverOptions& wanted, Sink& sink) {
  options = wanted;
  findings = &sink;
  handle = at::addGlobalCallback(
      at::RecordFunctionCallback(on_begin, on_end)
          .needsInputs(true)
          .needsOutputs(options.origins > 0)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                   at::RecordScope::USER_SCOPE}));
}

void report_before_end(ThreadState& state) {
  if (state.op_depth > 0) report_failure(state, state.ops[state.outermost], origins, *findings);
}

void stop_observing() {
  at::removeCallback(handle);
}

std::int64_t optimizer_steps() {
  return steps.load(std::memory_order_relaxed);
}

std::int64_t collectives_seen() {
  return collectives.load(std::memory_order_relaxed);
}

std::int64_t ops_seen_so_far() {
  return static_cast<std::int64_t>(ops_seen.load(std::memory_order_relaxed));
}

OriginTable& origin_table() {
  return origins;
}

void count_optimizer_step() {
  steps.fetch_add(1, std::memory_order_relaxed);
  ThreadState& state = thread_state();
  if (state.busy) return;
  const Busy busy(state);
  report_warnings_now_and_then(*findings);
}

Site capture_site(bool always_native) {
  Site site;
  if (python::attached()) site.python = python::capture();
  if (site.python == kNoStack || always_native) {
    const std::vector<void*> counters = torch::unwind::unwind();
    site.native =
        intern_native({reinterpret_cast<const std::uintptr_t*>(counters.data()), counters.size()});
  }
  return site;
}

}  // namespace devsan::trace
