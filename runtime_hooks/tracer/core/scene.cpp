// Reading a suspect's path.
#include "core/scene.h"

#include <algorithm>

#include "core/source.h"

namespace devsan::trace {

Deciding deciding_step(const Suspect& suspect) {
  bool direct = true;
  for (const Step& step : suspect.path) {
    if (step.kind == Origin::Kind::kFilled) continue;  // contents, not place
    if (step.link == Origin::Link::kFollowed) {
      direct = false;  // the next step decided for both
      continue;
    }
    const bool computed = step.kind == Origin::Kind::kCreated && step.link != Origin::Link::kNone;
    if (!computed || &step == &suspect.path.back()) return {&step, direct};
    if (step.link == Origin::Link::kBeside) direct = false;
  }
  return {};
}

std::optional<std::string> deciding_literal(const Scene& scene, const Suspect& suspect) {
  const Deciding deciding = deciding_step(suspect);
  if (!deciding.step || !is_by_user(*deciding.step)) return std::nullopt;
  const Device device = deciding.step->device;
  if (!deciding.direct &&
      std::ranges::find(scene.model, device, &Placement::device) != scene.model.end()) {
    return std::nullopt;
  }
  const OwnedFrame* frame = innermost_user_frame(deciding.step->stack);
  return device_literal(source_statement(frame->frame.file, frame->frame.line), device);
}

bool is_by_user(const Step& step) {
  const OwnedFrame* frame = innermost_shown_frame(step.stack);
  return frame && frame->owner == Owner::kUser;
}

}  // namespace devsan::trace
