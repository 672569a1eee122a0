// From an exception's frames and tensors to a finding.
#include "observer/uncaught_error.h"

#include <mutex>

#include "core/fork_safe.h"
#include "core/messages.h"
#include "core/model_names.h"
#include "core/report.h"
#include "core/sink.h"
#include "core/uncaught.h"
#include "observer/cpp_modules.h"
#include "observer/failure.h"
#include "observer/forward_sites.h"
#include "observer/observer.h"
#include "observer/warnings.h"

namespace devsan::trace {
namespace {

// The last one of the process.
struct LooseThrow {
  ForkSafeMutex mutex;
  std::string message;
  Site site;
  Site forward;  // where the op was called whose backward node ran last
};

LooseThrow& loose_throw() {
  static auto* instance = new LooseThrow;
  return *instance;
}

struct Sites {
  Site site;
  Site forward;
};

std::optional<Sites> sites_of_throw(const std::string& message) {
  LooseThrow& loose = loose_throw();
  std::lock_guard lock(loose.mutex);
  if (loose.message.empty() || first_line(loose.message) != first_line(message)) {
    return std::nullopt;
  }
  return Sites{loose.site, loose.forward};
}

// Alive: the exception's frames hold it.
at::Tensor tensor_at(std::uintptr_t address) {
  return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(
      reinterpret_cast<c10::TensorImpl*>(address)));
}

std::vector<Suspect> suspects_of(const PythonException& exception, OriginTable& origins) {
  std::vector<TensorAddress> addresses;
  for (const TensorInHand& held : exception.tensors) {
    addresses.push_back({held.tensor, held.storage});
  }
  ModelNames names = python_model_names(addresses, Frame());
  const ModelNames native = cpp_model_names(addresses);
  std::vector<Suspect> suspects;
  for (std::size_t i = 0; i < exception.tensors.size(); ++i) {
    const at::Tensor tensor = tensor_at(exception.tensors[i].tensor);
    Suspect suspect = suspect_of(tensor);
    suspect.argument.name = exception.tensors[i].name;
    suspect.argument.parameter = names.names[i] ? names.names[i] : native.names[i];
    suspect.mentioned = exception.tensors[i].mentioned;
    suspect.path = history_of(tensor, origins);
    suspects.push_back(std::move(suspect));
  }
  return suspects;
}

}  // namespace

void note_loose_throw(const ThreadState& state, const std::string& message) {
  if (!is_about_placement(message)) return;
  const Site site = capture_site(/*always_native=*/true);
  const Site forward = state.last_node_sequence < 0
                           ? Site()
                           : forward_site(state.last_node_thread, state.last_node_sequence).site;
  LooseThrow& loose = loose_throw();
  std::lock_guard lock(loose.mutex);
  loose.message = message;
  loose.site = site;
  loose.forward = message.find("invalid gradient") != message.npos ? forward : Site();
}

void report_uncaught(const PythonException& exception, OriginTable& origins, Sink& sink) {
  if (!sink.open() || sink.has_said(exception.message)) return;
  Uncaught uncaught;
  uncaught.type = exception.type;
  uncaught.message = exception.message;
  uncaught.scene.op =
      exception.stack.empty() ? exception.type : exception.stack.front().frame.function;
  uncaught.scene.use = exception.stack;
  uncaught.scene.suspects = suspects_of(exception, origins);
  if (!shows_mismatch(uncaught)) return;
  if (const auto sites = sites_of_throw(exception.message)) {
    uncaught.scene.forward = symbolize(sites->forward);
    uncaught.scene.backward = sites->forward.known();
  }
  RunFacts facts = run_facts();
  facts.op.sequence = ops_seen_so_far();
  sink.publish(make_uncaught_finding(std::move(uncaught), std::move(facts)));
}

void report_terminating(const std::string& message, Sink& sink) {
  if (!is_about_placement(message) || !sink.open() || sink.has_said(message)) return;
  const auto sites = sites_of_throw(message);
  if (!sites) return;
  Uncaught uncaught;
  uncaught.type = "exception";
  uncaught.message = message;
  uncaught.tensors_known = false;
  if (!shows_mismatch(uncaught)) return;
  uncaught.scene.use = symbolize(sites->site);
  uncaught.scene.forward = symbolize(sites->forward);
  uncaught.scene.backward = sites->forward.known();
  const OwnedFrame* frame = innermost_user_frame(uncaught.scene.use);
  uncaught.scene.op = frame ? frame->frame.function : "the program";
  RunFacts facts = run_facts();
  facts.op.sequence = ops_seen_so_far();
  sink.publish(make_uncaught_finding(std::move(uncaught), std::move(facts)));
}

}  // namespace devsan::trace
