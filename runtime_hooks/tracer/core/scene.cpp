// Reading a suspect's path.
#include "core/scene.h"

namespace devsan::trace {

Deciding deciding_step(const Suspect& suspect) {
  bool direct = true;
  for (const Step& step : suspect.path) {
    if (step.kind == Origin::Kind::kFilled) continue;  // contents, not place
    const bool computed = step.kind == Origin::Kind::kCreated && step.link != Origin::Link::kNone;
    if (!computed || &step == &suspect.path.back()) return {&step, direct};
    if (step.link == Origin::Link::kBeside) direct = false;
  }
  return {};
}

bool is_by_user(const Step& step) {
  for (const OwnedFrame& frame : step.stack) {
    if (frame.owner != Owner::kInternal) return frame.owner == Owner::kUser;
  }
  return false;
}

}  // namespace devsan::trace
