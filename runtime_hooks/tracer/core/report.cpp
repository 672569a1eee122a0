// From a scene to a Finding: blame, remedy, and the path in the words of findings.
#include "core/report.h"

#include <fmt/format.h>

#include "core/blame.h"
#include "core/messages.h"
#include "core/native.h"
#include "core/python.h"
#include "core/remedy.h"
#include "core/source.h"

namespace devsan::trace {
namespace {

const char* label_of(Origin::Kind kind) {
  switch (kind) {
    case Origin::Kind::kCreated:
      return "created";
    case Origin::Kind::kMoved:
      return "moved";
    case Origin::Kind::kFirstSeen:
      return "first seen";
    case Origin::Kind::kFilled:
      return "copied";
  }
  return "";
}

void set_place(PathStep& step, const Stack& stack) {
  step.stack = shown_frames(stack);
  const OwnedFrame* frame = innermost_user_frame(stack);
  if (!frame) return;
  step.place.file = frame->frame.file;
  step.place.line = step.place.end_line = frame->frame.line;
  step.code = source_line(step.place.file, step.place.line);
}

std::string note_of(const Step& step, bool other_tensor, bool followed) {
  std::string note = fmt::format("by {}", step.op);
  if (step.kind == Origin::Kind::kFirstSeen) note = fmt::format("as an argument of {}", step.op);
  if (step.backward) note += " in the backward pass of the op called";
  if (step.link == Origin::Link::kFollowed) note += ", to where another tensor was";
  if (followed) note += " (the tensor that it followed)";
  if (other_tensor) note += " (one of the tensors it was computed from)";
  return note;
}

// "input is on cuda:0, weight (head.weight) is on cuda:1": the odd one and the first on another
// device.
std::string message_of(const Scene& scene, const Blame& blame) {
  std::string message =
      fmt::format("{}{}: ", scene.op, scene.backward ? " in the backward pass" : "");
  if (scene.suspects.empty()) return message + "tensors on different devices";
  const Suspect& first = scene.suspects[blame.odd.value_or(0)];
  message += described(first);
  for (const Suspect& other : scene.suspects) {
    if (other.device != first.device) return message + ", " + described(other);
  }
  return message;
}

}  // namespace

std::vector<PathStep> path_steps(const std::vector<Step>& path) {
  std::vector<PathStep> steps;
  bool other_tensor = false;
  bool followed = false;
  for (const Step& step : path) {
    PathStep next;
    next.label = label_of(step.kind);
    next.device = to_string(step.device);
    next.note = note_of(step, other_tensor, followed);
    set_place(next, step.stack);
    steps.push_back(std::move(next));
    followed = step.link == Origin::Link::kFollowed;
    if (step.link == Origin::Link::kBeside) other_tensor = true;
  }
  return steps;
}

std::vector<PathStep> path_steps(const Stack& use, const Suspect& odd) {
  PathStep used;
  used.label = "used";
  used.device = to_string(odd.device);
  set_place(used, use);
  std::vector<PathStep> steps = path_steps(odd.path);
  steps.insert(steps.begin(), std::move(used));
  return steps;
}

std::string described(const Suspect& suspect) {
  const std::string name =
      suspect.argument.parameter
          ? fmt::format("{} ({})", suspect.argument.name, *suspect.argument.parameter)
          : suspect.argument.name;
  return fmt::format("{} is on {}", name, to_string(suspect.device));
}

void add_scene(RunFacts& facts, const Scene& scene, std::optional<std::size_t> odd) {
  facts.op.name = scene.op;
  facts.op.backward = scene.backward;
  facts.stack = shown_frames(scene.use);
  facts.forward_stack = shown_frames(scene.forward);
  for (std::size_t i = 0; i < scene.suspects.size(); ++i) {
    facts.arguments.push_back(scene.suspects[i].argument);
    facts.arguments.back().odd = odd == i;
  }
}

Stack symbolize(const Site& site) {
  Stack stack = python::attached() ? python::symbolize(site.python) : Stack();
  const bool has_python = !stack.empty();
  Stack native = symbolize_native(native_stack_words(site.native));
  if (!has_python) return native;
  // In a Python program the C++ frames that matter are those of the user's own extensions.
  std::erase_if(native, [](const OwnedFrame& frame) { return frame.owner != Owner::kUser; });
  stack.insert(stack.begin(), native.begin(), native.end());
  return stack;
}

std::vector<Step> path_of(const OriginRef& origin) {
  std::vector<Step> path;
  for (const Origin* at = origin.get(); at; at = at->previous.get()) {
    path.push_back({at->kind, at->link, at->device, at->op, at->backward, symbolize(at->site)});
  }
  return path;
}

Finding make_finding(const Scene& scene, RunFacts facts) {
  const Blame blame = find_odd_one(scene);
  const Remedy remedy = find_remedy(scene, blame);

  Finding finding;
  finding.rule = "device-mismatch";
  finding.level = Level::kError;
  finding.message = message_of(scene, blame);
  finding.place = remedy.place;
  finding.why = remedy.why;
  finding.advice = remedy.advice;
  if (blame.odd) finding.path = path_steps(scene.use, scene.suspects[*blame.odd]);

  facts.error = first_line(facts.error);
  add_scene(facts, scene, blame.odd);
  finding.run = std::move(facts);
  return finding;
}

}  // namespace devsan::trace
