// From a path to an edit: the table of remedy.h, a function a line.
#include "core/remedy.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "core/place.h"
#include "core/siblings.h"
#include "core/source.h"
#include "core/unregistered.h"

namespace devsan::trace {
namespace {

std::string text_of(const SourceRange& place) {
  return short_place(place.file, place.line);
}

bool same_function(const Frame& a, const Frame& b) {
  return a.function == b.function && a.file == b.file;
}

std::vector<const OwnedFrame*> outermost_first(const Stack& stack) {
  std::vector<const OwnedFrame*> frames;
  for (const OwnedFrame& frame : std::views::reverse(stack)) {
    if (frame.owner != Owner::kInternal) frames.push_back(&frame);
  }
  return frames;
}

// How many outer frames both stacks share; the last of them may stand at different lines.
std::size_t shared_frames(const std::vector<const OwnedFrame*>& a,
                          const std::vector<const OwnedFrame*>& b) {
  std::size_t shared = 0;
  while (shared < a.size() && shared < b.size() &&
         same_function(a[shared]->frame, b[shared]->frame)) {
    ++shared;
    if (a[shared - 1]->frame.line != b[shared - 1]->frame.line) break;
  }
  return shared;
}

// Whether the step ran in the function that later used its result, or under a forward pass that was
// still running then.
bool is_made_for_this_use(const Step& step, const Stack& use) {
  const auto made = outermost_first(step.stack);
  const auto used = outermost_first(use);
  const std::size_t shared = shared_frames(made, used);
  if (shared == 0) return false;
  const OwnedFrame* maker = innermost_user_frame(step.stack);
  if (maker && made.size() >= shared && made[shared - 1] == maker) return true;
  return std::any_of(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(shared),
                     [](const OwnedFrame* frame) { return is_forward(frame->frame); });
}

class Writer {
 public:
  Writer(const Scene& scene, const Suspect& odd)
      : scene_(scene), odd_(odd), partner_(partner_of(scene, odd)) {
    const OwnedFrame* frame = innermost_user_frame(scene.use);
    if (frame) {
      python_ = is_python_file(frame->frame.file);
      // Python's frames are asked for their variables instead; F::embedding swaps its arguments.
      if (!python_ && scene.op != "aten::embedding") {
        arguments_ =
            call_arguments(source_statement(frame->frame.file, frame->frame.line), scene.op);
      }
    }
  }

  // The argument as the program spells it at the failing call, else its name in the model or the
  // schema.
  std::string name(const Suspect& suspect) const {
    if (suspect.variable) return *suspect.variable;
    const auto index = static_cast<std::size_t>(&suspect - scene_.suspects.data());
    if (arguments_.size() == scene_.suspects.size() &&
        arguments_[index].find_first_of("(,=\"'") == std::string::npos) {
      return arguments_[index];
    }
    return suspect.argument.parameter ? spelled(*suspect.argument.parameter)
                                      : suspect.argument.name;
  }

  std::string odd() const { return name(odd_); }
  std::string partner() const { return partner_ ? name(*partner_) : std::string("the others"); }
  std::string partner_device() const {
    return partner_ ? to_string(partner_->device) : std::string();
  }
  std::optional<Device> wanted() const {
    return partner_ ? std::optional(partner_->device) : std::nullopt;
  }
  bool python() const { return python_; }
  std::string device_of_partner() const { return partner() + (python_ ? ".device" : ".device()"); }
  std::string moved_odd() const {
    return fmt::format("{0} = {0}.to({1})", odd(), device_of_partner());
  }

  std::string where_they_are() const {
    return fmt::format("'{}' is on {}, '{}' on {}", odd(), to_string(odd_.device), partner(),
                       partner_device());
  }

 private:
  static const Suspect* partner_of(const Scene& scene, const Suspect& odd) {
    const Suspect* partner = nullptr;
    for (const Suspect& suspect : scene.suspects) {
      if (suspect.device == odd.device || suspect.scalar) continue;
      if (!partner || weight_of(suspect) > weight_of(*partner)) partner = &suspect;
    }
    return partner;
  }

  // What to compare with: a parameter rather than a tensor, a weight rather than a bias.
  static std::pair<bool, std::size_t> weight_of(const Suspect& suspect) {
    return {suspect.is_parameter(), suspect.argument.shape.size()};
  }

  // "head->weight" of the parameter "head.weight" in C++.
  std::string spelled(const std::string& parameter) const {
    if (python_) return parameter;
    std::string text;
    for (const char letter : parameter) {
      if (letter == '.')
        text += "->";
      else
        text += letter;
    }
    return text;
  }

  const Scene& scene_;
  const Suspect& odd_;
  const Suspect* partner_;
  std::vector<std::string> arguments_;
  bool python_ = false;
};

const OwnedFrame* call_of_op(const Scene& scene) {
  const OwnedFrame* frame = innermost_user_frame(scene.use);
  if (!scene.backward) return frame;
  // A line that only starts the backward pass is nobody's mistake: the forward op's line is nearer.
  const bool only_starts =
      !frame ||
      source_statement(frame->frame.file, frame->frame.line).find("backward(") != std::string::npos;
  const OwnedFrame* forward = innermost_user_frame(scene.forward);
  return only_starts && forward ? forward : frame;
}

Remedy for_parameter(const Scene& scene, const Suspect& odd, Reason reason, const Writer& text) {
  const std::string& parameter = *odd.argument.parameter;
  const Step* newest = odd.path.empty() ? nullptr : &odd.path.front();
  Remedy remedy;
  remedy.place = place_of(newest ? innermost_user_frame(newest->stack) : nullptr);
  if (!remedy.place.known()) remedy.place = place_of(call_of_op(scene));

  if (reason == Reason::kMovedInForward) {
    const Device before = odd.path.size() > 1 ? odd.path[1].device : Device();
    remedy.why =
        fmt::format("The forward pass moves {} from {} to {}, away from where it was placed.",
                    parameter, to_string(before), to_string(odd.device));
    remedy.advice =
        "remove this move and move the activation instead, or place the module where it is meant "
        "to be";
    return remedy;
  }
  if (reason == Reason::kAdapter) {
    remedy.why =
        fmt::format("{} is on {}, its base layer {} on {}.", parameter, to_string(odd.device),
                    base_layer_of_adapter(parameter).value_or(""), text.partner_device());
    remedy.advice =
        fmt::format("move the adapter with its base layer, to {}", text.partner_device());
    return remedy;
  }
  const bool was_moved = newest && newest->kind == Origin::Kind::kMoved;
  remedy.why =
      fmt::format("{} {} on {}; '{}' is on {}.", parameter, was_moved ? "was put" : "stayed",
                  to_string(odd.device), text.partner(), text.partner_device());
  remedy.advice = fmt::format("put {} on {}", parameter, text.partner_device());
  if (!was_moved) remedy.place = place_of(call_of_op(scene));
  return remedy;
}

Remedy for_literal(const Scene& scene, const Step& step, const std::string& literal,
                   const Writer& text) {
  Remedy remedy;
  remedy.place = place_of(innermost_user_frame(step.stack));
  remedy.why = fmt::format("{}: the literal {} decided that.", text.where_they_are(), literal);
  if (scene.local_rank >= 0 && step.device.type == 1 && step.device.index != scene.local_rank) {
    remedy.why += fmt::format(" Rank {0} owns cuda:{0}; this literal names another rank's device.",
                              scene.local_rank);
  }
  remedy.advice = fmt::format("use {} instead of {}", text.device_of_partner(), literal);
  return remedy;
}

Remedy where_it_is_used(const Scene& scene, const Suspect& odd, const Writer& text) {
  Remedy remedy;
  const OwnedFrame* frame = scene.backward || odd.path.empty()
                                ? call_of_op(scene)
                                : holder_of(scene.use, odd.path.front().stack);
  remedy.place = place_of(frame);
  remedy.why = text.where_they_are() + ".";
  remedy.advice = fmt::format("move it first: {}", text.moved_odd());
  return remedy;
}

Remedy for_unregistered(const Unregistered& member, const Suspect& odd, const Writer& text) {
  const std::string variable = member.member.empty() ? text.odd() : member.member;
  std::string name = variable;
  if (name.ends_with('_')) name.pop_back();
  Remedy remedy;
  remedy.place = place_of(member.made);
  remedy.why = fmt::format(
      "'{}' is made in the constructor of {} and never registered: moving the module leaves it on "
      "{}.",
      variable, member.type, to_string(odd.device));
  remedy.advice =
      text.python() ? fmt::format("register it: self.register_buffer(\"{}\", ...)", name)
                    : fmt::format("register it: {} = register_buffer(\"{}\", ...)", variable, name);
  return remedy;
}

// The move of what was made in the same call, where this one was made and never moved.
const RunMove* forgotten_at(const Scene& scene, const Suspect& odd, const Writer& text) {
  if (odd.path.empty() || odd.path.front().kind != Origin::Kind::kCreated || !text.wanted()) {
    return nullptr;
  }
  return move_of_siblings(odd.path.front().stack, *text.wanted(), scene.moves);
}

Remedy for_forgotten(const RunMove& move, const Suspect& odd, const Writer& text) {
  const SourceRange made = place_of(innermost_user_frame(odd.path.front().stack));
  Remedy remedy;
  remedy.place = place_of(innermost_user_frame(move.moved));
  remedy.why =
      fmt::format("{}. It was made at {} and never moved.", text.where_they_are(), text_of(made));
  remedy.advice =
      fmt::format("what was made beside it goes to {} here: move it here too", to_string(move.to));
  return remedy;
}

Remedy for_tensor(const Scene& scene, const Suspect& odd, const Writer& text) {
  if (const auto member = unregistered_member(scene, odd)) {
    return for_unregistered(*member, odd, text);
  }
  const Deciding deciding = deciding_step(odd);
  if (!deciding.step || !is_by_user(*deciding.step)) return where_it_is_used(scene, odd, text);
  const Step& step = *deciding.step;
  const OwnedFrame* frame = innermost_user_frame(step.stack);
  if (const auto literal = deciding_literal(scene, odd))
    return for_literal(scene, step, *literal, text);

  Remedy remedy;
  remedy.place = place_of(frame);
  if (step.kind == Origin::Kind::kMoved && deciding.direct) {
    remedy.why =
        fmt::format("{}: it was moved there at {}.", text.where_they_are(), text_of(remedy.place));
    remedy.advice = fmt::format("move it to {} instead", text.device_of_partner());
    return remedy;
  }
  if (step.kind == Origin::Kind::kCreated && is_made_for_this_use(step, scene.use)) {
    remedy.why =
        fmt::format("{}: it was made there at {}.", text.where_they_are(), text_of(remedy.place));
    remedy.advice = fmt::format("make it on {}", text.device_of_partner());
    return remedy;
  }
  if (const RunMove* move = forgotten_at(scene, odd, text)) return for_forgotten(*move, odd, text);
  return where_it_is_used(scene, odd, text);
}

Remedy candidates(const Scene& scene, const Blame& blame) {
  Remedy remedy;
  remedy.place = place_of(call_of_op(scene));
  std::vector<std::string> lines;
  for (const Suspect& suspect : scene.suspects) {
    const Deciding deciding = deciding_step(suspect);
    const SourceRange place =
        place_of(deciding.step ? innermost_user_frame(deciding.step->stack) : nullptr);
    if (!place.known()) continue;
    lines.push_back(fmt::format("{} ('{}' came to {})", text_of(place), suspect.argument.name,
                                to_string(suspect.device)));
  }
  remedy.why = blame.odd
                   ? fmt::format(
                         "PyTorch's check names '{}'; nothing else tells which argument is in the "
                         "wrong place.",
                         scene.suspects[*blame.odd].argument.name)
                   : std::string("Nothing tells which of the arguments is in the wrong place.");
  remedy.advice =
      lines.empty()
          ? std::string("bring the arguments to one device; --origins 2 shows more")
          : "one of these lines, or a move here: " + fmt::format("{}", fmt::join(lines, ", ")) +
                "; --origins 2 shows more";
  return remedy;
}

}  // namespace

const OwnedFrame* holder_of(const Stack& use, const Stack& made) {
  const auto used = outermost_first(use);
  const std::size_t shared = shared_frames(used, outermost_first(made));
  if (shared == 0) return innermost_user_frame(use);
  for (std::size_t i = shared - 1; i < used.size(); ++i) {
    if (used[i]->owner == Owner::kUser) return used[i];
  }
  return innermost_user_frame(use);
}

Remedy find_remedy(const Scene& scene, const Blame& blame) {
  if (!blame.certain()) return candidates(scene, blame);
  const Suspect& odd = scene.suspects[*blame.odd];
  const Writer text(scene, odd);
  return odd.is_parameter() ? for_parameter(scene, odd, blame.reason, text)
                            : for_tensor(scene, odd, text);
}

}  // namespace devsan::trace
