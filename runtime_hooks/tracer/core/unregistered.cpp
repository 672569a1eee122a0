// From the stack that made a tensor and the one that uses it.
#include "core/unregistered.h"

#include <algorithm>
#include <regex>

#include "core/source.h"

namespace devsan::trace {
namespace {

bool is_method_of(const std::string& type, const std::string& function) {
  return owning_type(function) == type && constructed_type(function).empty();
}

// What the line assigns to: "scale" of "self.scale = ..." or "this->scale = ...".
std::string assigned_member(const std::string& statement) {
  static const std::regex assignment(R"(^\s*(?:self\.|this->)?([A-Za-z_]\w*)\s*=[^=])");
  std::smatch match;
  return std::regex_search(statement, match, assignment) ? match.str(1) : std::string();
}

// The step that made it, where nothing but that decided its place.
const Step* only_made(const Suspect& suspect) {
  if (suspect.path.empty()) return nullptr;
  const auto decides = [](const Step& step) {
    return step.kind == Origin::Kind::kMoved || step.link == Origin::Link::kBeside;
  };
  if (std::ranges::any_of(suspect.path, decides)) return nullptr;
  const Step& made = suspect.path.back();
  return made.kind == Origin::Kind::kCreated ? &made : nullptr;
}

}  // namespace

std::optional<Unregistered> unregistered_member(const Scene& scene, const Suspect& suspect) {
  if (suspect.is_parameter()) return std::nullopt;
  const Step* made = only_made(suspect);
  if (!made) return std::nullopt;
  const OwnedFrame* maker = innermost_user_frame(made->stack);
  if (!maker) return std::nullopt;
  const std::string type = constructed_type(maker->frame.function);
  if (type.empty()) return std::nullopt;
  const bool used_by_it = std::ranges::any_of(
      scene.use, [&](const OwnedFrame& frame) { return is_method_of(type, frame.frame.function); });
  if (!used_by_it) return std::nullopt;
  return Unregistered{maker, type,
                      assigned_member(source_statement(maker->frame.file, maker->frame.line))};
}

}  // namespace devsan::trace
