// Taking down an error about devices, and making the report of it.
#include "observer/failure.h"

#include <cstdio>
#include <cstring>
#include <typeinfo>

#include "core/collective.h"
#include "core/followed.h"
#include "core/messages.h"
#include "core/model_names.h"
#include "core/process_facts.h"
#include "core/python.h"
#include "core/report.h"
#include "core/sink.h"
#include "observer/cpp_modules.h"
#include "observer/forward_sites.h"
#include "observer/observer.h"
#include "observer/uncaught_error.h"
#include "observer/warnings.h"

namespace devsan::trace {
namespace {

// The message of an exception that is being thrown; null for such that only carry another one on
// (python_error, error_already_set), and for what is no std::exception.
const char* message_of(void* object, const std::type_info& type) {
  for (const char* carrier : {"python_error", "error_already_set"}) {
    if (std::strstr(type.name(), carrier)) return nullptr;
  }
  void* as_base = object;
  if (typeid(c10::Error).__do_catch(&type, &as_base, 1)) {
    return static_cast<c10::Error*>(as_base)->what_without_backtrace();
  }
  as_base = object;
  if (typeid(std::exception).__do_catch(&type, &as_base, 1)) {
    return static_cast<std::exception*>(as_base)->what();
  }
  return nullptr;
}

std::optional<c10::OperatorHandle> operator_of(const at::RecordFunction& record) {
  const std::optional<c10::OperatorName> name = record.operator_name();
  return name ? c10::Dispatcher::singleton().findSchema(*name) : std::nullopt;
}

bool is_collective(const ThreadState& state) {
  return state.ops[state.outermost].name->kind == OpName::Kind::kCollective;
}

CapturedOp capture(const ActiveOp& op, const c10::TensorImpl* checked) {
  CapturedOp captured;
  captured.name = op.record->name();
  captured.mixed = op.mixed;
  const std::optional<c10::OperatorHandle> handle = operator_of(*op.record);
  for (const Input& input : op.inputs) {
    CapturedArgument argument;
    argument.tensor = at::Tensor(
        c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(input.tensor));
    argument.suspect = suspect_of(argument.tensor);
    Suspect& suspect = argument.suspect;
    const auto index = static_cast<std::size_t>(input.argument);
    const bool has_name =
        handle && handle->hasSchema() && index < handle->schema().arguments().size();
    suspect.argument.name =
        has_name ? handle->schema().arguments()[index].name() : "argument " + std::to_string(index);
    if (input.element >= 0) suspect.argument.name += "[" + std::to_string(input.element) + "]";
    suspect.named_by_pytorch = input.tensor == checked;
    captured.arguments.push_back(std::move(argument));
  }
  return captured;
}

void take_down(ThreadState& state, const char* message, bool collective) {
  const Busy busy(state);
  const ActiveOp& outermost = state.ops[state.outermost];
  const ActiveOp* innermost = &outermost;
  bool mixed = false;
  for (std::size_t i = state.outermost; i < state.depth; ++i) {
    if (state.ops[i].range) continue;
    innermost = &state.ops[i];
    mixed = mixed || state.ops[i].mixed;
  }
  if (!mixed && !collective) return;
  auto failure = std::make_unique<Failure>();
  failure->message = message;
  failure->collective = collective;
  failure->outermost = capture(outermost, state.checked_tensor);
  failure->innermost = capture(*innermost, state.checked_tensor);
  failure->checked_tensor = state.checked_tensor;
  failure->site = capture_site(/*always_native=*/true);
  state.failure = std::move(failure);
}

// The names of both halves: a Python program may hold C++ modules and the other way round.
ModelNames names_of(const std::vector<CapturedArgument>& arguments, const Stack& use) {
  std::vector<TensorAddress> addresses;
  for (const CapturedArgument& argument : arguments) {
    c10::TensorImpl* impl = argument.tensor.unsafeGetTensorImpl();
    addresses.push_back({reinterpret_cast<std::uintptr_t>(impl),
                         reinterpret_cast<std::uintptr_t>(storage_of(impl))});
  }
  ModelNames names;
  if (python::attached()) {
    const OwnedFrame* caller = innermost_user_frame(use);
    names = python_model_names(addresses, caller ? caller->frame : Frame());
  }
  names.names.resize(addresses.size());
  names.variables.resize(addresses.size());
  ModelNames native = cpp_model_names(addresses);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (!names.names[i]) names.names[i] = native.names[i];
  }
  if (names.model.empty()) names.model = std::move(native.model);
  return names;
}

Scene scene_of(const ThreadState& state, Failure& failure, OriginTable& origins) {
  Scene scene;
  scene.op = failure.outermost.name;
  scene.local_rank = process_facts().local_rank.value_or(-1);
  scene.use = symbolize(failure.site);
  if (const ActiveOp* node = state.innermost_backward()) {
    scene.backward = true;
    scene.forward = symbolize(forward_site(node->forward_thread, node->node_sequence).site);
  }
  CapturedOp& judged =
      failure.outermost.mixed || failure.collective ? failure.outermost : failure.innermost;
  const ModelNames names = names_of(judged.arguments, scene.use);
  scene.model = names.model;
  scene.moves = moves_so_far();
  const std::optional<std::string> named = argument_named_in(failure.message);
  for (std::size_t i = 0; i < judged.arguments.size(); ++i) {
    Suspect suspect = std::move(judged.arguments[i].suspect);
    suspect.argument.parameter = names.names[i];
    suspect.variable = names.variables[i];
    if (!failure.checked_tensor && named == suspect.argument.name) suspect.named_by_pytorch = true;
    suspect.path = history_of(judged.arguments[i].tensor, origins);
    add_followed_move(suspect.path, scene.moves);
    scene.suspects.push_back(std::move(suspect));
  }
  return scene;
}

RunFacts facts_of(const Failure& failure, const ActiveOp& op) {
  RunFacts facts = run_facts();
  facts.op.sequence = static_cast<std::int64_t>(op.number);
  const std::string& inner = failure.innermost.name;
  const bool is_op = inner.find("::") != inner.npos;  // not a range inside one
  if (is_op && inner != failure.outermost.name) facts.inner_op = inner;
  facts.error = failure.message;
  return facts;
}

}  // namespace

Suspect suspect_of(const at::Tensor& tensor) {
  Suspect suspect;
  suspect.argument.dtype = c10::toString(tensor.scalar_type());
  const auto sizes = tensor.sizes();
  suspect.argument.shape.assign(sizes.begin(), sizes.end());
  suspect.device = device_of(tensor.unsafeGetTensorImpl()).value_or(Device());
  suspect.argument.device = to_string(suspect.device);
  suspect.scalar = tensor.dim() == 0 && suspect.device.is_cpu();
  suspect.requires_grad = tensor.requires_grad();
  return suspect;
}

std::vector<Step> history_of(const at::Tensor& tensor, OriginTable& origins) {
  std::vector<Step> history;
  c10::StorageImpl* storage = storage_of(tensor.unsafeGetTensorImpl());
  if (!storage) return history;
  const OriginTable::Found found = origins.find(storage);
  // Its contents may have come later than its storage: both are shown.
  if (found.filled) history.push_back(path_of(found.filled).front());
  const std::vector<Step> made = path_of(found.made);
  history.insert(history.end(), made.begin(), made.end());
  return history;
}

void note_throw(ThreadState& state, void* object, void* type) {
  if (state.busy) return;
  const char* message = message_of(object, *static_cast<const std::type_info*>(type));
  if (!message) return;
  if (state.op_depth == 0) {
    const Busy busy(state);
    note_loose_throw(state, message);
    return;
  }
  const bool collective = is_collective(state) && is_about_collective(message);
  if (!collective && !speaks_of_devices(message)) {
    state.failure.reset();  // another error took its place
  } else if (!state.failure) {
    take_down(state, message, collective);
  }
  state.checked_tensor = nullptr;
}

void report_failure(ThreadState& state, const ActiveOp& op, OriginTable& origins, Sink& sink) {
  if (!state.failure || !sink.open()) return;
  const Busy busy(state);
  try {
    const Scene scene = scene_of(state, *state.failure, origins);
    RunFacts facts = facts_of(*state.failure, op);
    sink.publish(state.failure->collective
                     ? make_collective_finding(scene, device_use(), std::move(facts))
                     : make_finding(scene, std::move(facts)));
  } catch (const std::exception& error) {
    // The program's own exception goes on; a report that failed must not replace it.
    std::fprintf(stderr, "DevSan: a device mismatch in %s could not be reported: %s\n",
                 state.failure->outermost.name.c_str(), error.what());
  }
}

}  // namespace devsan::trace
