// Which of the tensors in hand the exception speaks of, and the line to change.
#include "core/uncaught.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/messages.h"
#include "core/model_names.h"
#include "core/place.h"
#include "core/remedy.h"
#include "core/report.h"
#include "core/source.h"

namespace devsan::trace {
namespace {

constexpr std::size_t kMaxShown = 8;

// A device as a message names it: "cuda" is any GPU.
bool is_named(Device device, const std::string& name) {
  return !name.empty() && (to_string(device) == name || to_string({device.type, -1}) == name);
}

std::optional<std::size_t> first_on(const Scene& scene, const std::string& name) {
  const auto found = std::ranges::find_if(
      scene.suspects, [&](const Suspect& suspect) { return is_named(suspect.device, name); });
  if (found == scene.suspects.end()) return std::nullopt;
  return static_cast<std::size_t>(found - scene.suspects.begin());
}

// What the reader needs to see: the tensors that the raising statement names, where they show the
// mismatch, else all that were in hand.
void keep_involved(Scene& scene, const DevicesInMessage& devices) {
  const auto shows = [&](const std::string& name) {
    return name.empty() || std::ranges::any_of(scene.suspects, [&](const Suspect& suspect) {
             return suspect.mentioned && is_named(suspect.device, name);
           });
  };
  const bool any = std::ranges::any_of(scene.suspects, &Suspect::mentioned);
  if (any && shows(devices.found) && shows(devices.expected)) {
    std::erase_if(scene.suspects, [](const Suspect& suspect) { return !suspect.mentioned; });
  }
}

// The first line; PyTorch writes an index of a device as a character of that number in places.
std::string printable(const std::string& message) {
  std::string text = first_line(message);
  std::erase_if(text, [](unsigned char letter) { return letter < ' '; });
  return text;
}

class Advisor {
 public:
  Advisor(const Scene& scene, const std::vector<Suspect>& in_hand, const DevicesInMessage& devices)
      : scene_(scene), in_hand_(in_hand), devices_(devices) {}

  Remedy without_odd() const {
    Remedy remedy;
    const OwnedFrame* forward = innermost_user_frame(scene_.forward);
    const OwnedFrame* frame = forward ? forward : innermost_user_frame(scene_.use);
    remedy.place = place_of(frame);
    if (forward) {
      remedy.why =
          "The gradient that the backward pass of this op gave is on another device than "
          "the tensor it is for.";
      remedy.advice = devices_.expected.empty()
                          ? "let its backward return the gradient on the input's device"
                          : fmt::format(
                                "let its backward return the gradient on the input's "
                                "device, {}",
                                devices_.expected);
      return remedy;
    }
    const auto other = std::ranges::find_if(scene_.suspects, [&](const Suspect& suspect) {
      return suspect.device != scene_.suspects.front().device;
    });
    if (other == scene_.suspects.end()) {
      remedy.why = fmt::format("{} says that something is on the wrong device.", scene_.op);
      remedy.advice = "bring what this call uses to one device; --full-stacks shows the way to it";
      return remedy;
    }
    const Suspect& first = scene_.suspects.front();
    remedy.why = fmt::format("'{}' is on {}, '{}' on {}.", name(first), to_string(first.device),
                             name(*other), to_string(other->device));
    remedy.advice = "bring them to one device before this";
    return remedy;
  }

  Remedy for_odd(const Suspect& odd) const {
    if (odd.is_parameter()) return for_parameter(odd);
    if (const auto literal = deciding_literal(scene_, odd)) {
      Remedy remedy;
      remedy.place = place_of(innermost_user_frame(deciding_step(odd).step->stack));
      remedy.why = why(odd) + fmt::format(": the literal {} decided that.", *literal);
      remedy.advice = fmt::format("use {} instead of {}", target(), *literal);
      return remedy;
    }
    if (const OwnedFrame* maker = returned_from(odd)) return for_result(odd, maker->frame);
    Remedy remedy;
    remedy.place = place_of(odd.path.empty() ? innermost_user_frame(scene_.use)
                                             : holder_of(scene_.use, odd.path.front().stack));
    remedy.why = why(odd) + ".";
    remedy.advice = fmt::format("move it to {} first", target());
    return remedy;
  }

 private:
  std::string name(const Suspect& suspect) const {
    return suspect.argument.parameter.value_or(suspect.argument.name);
  }

  std::string why(const Suspect& odd) const {
    std::string text = fmt::format("'{}' is on {}", name(odd), to_string(odd.device));
    if (!devices_.expected.empty()) {
      text += fmt::format(", {} wants it on {}", scene_.op, devices_.expected);
    }
    return text;
  }

  std::string target() const {
    return devices_.expected.empty() ? std::string("the others' device") : devices_.expected;
  }

  Remedy for_parameter(const Suspect& odd) const {
    Remedy remedy;
    const bool was_moved = !odd.path.empty() && odd.path.front().kind == Origin::Kind::kMoved;
    if (was_moved) remedy.place = place_of(innermost_user_frame(odd.path.front().stack));
    if (!remedy.place.known()) remedy.place = place_of(innermost_user_frame(scene_.use));
    remedy.why = why(odd) + ".";
    remedy.advice = was_moved ? fmt::format("move {} to {} instead", name(odd), target())
                              : fmt::format("put {} on {} before this", name(odd), target());
    return remedy;
  }

  // The function of the user's that made the tensor, where it has ended and handed it out.
  const OwnedFrame* returned_from(const Suspect& odd) const {
    if (odd.path.empty()) return nullptr;
    const OwnedFrame* maker = innermost_user_frame(odd.path.front().stack);
    if (!maker || !is_python_file(maker->frame.file)) return nullptr;
    const bool still_runs = std::ranges::any_of(scene_.use, [&](const OwnedFrame& frame) {
      return frame.frame.file == maker->frame.file && frame.frame.function == maker->frame.function;
    });
    return still_runs ? nullptr : maker;
  }

  // A result that left the user's function on the wrong device: it is moved before the return.
  Remedy for_result(const Suspect& odd, const Frame& maker) const {
    const std::string variable = assigned_name(source_statement(maker.file, maker.line));
    Remedy remedy;
    remedy.place.file = maker.file;
    remedy.place.line = return_line(maker.file, maker.line, variable);
    if (remedy.place.line == 0) remedy.place.line = maker.line;
    remedy.place.end_line = remedy.place.line;
    remedy.why = fmt::format("{}; {} made it at {} and returned it so.", why(odd), maker.function,
                             short_place(maker.file, maker.line));
    const std::string device = argument_there(maker);
    if (variable.empty()) {
      remedy.advice = fmt::format("return it on {}", device.empty() ? target() : device);
    } else if (device.empty()) {
      remedy.advice = fmt::format("move {} to {} before it is returned", variable, target());
    } else {
      remedy.advice =
          fmt::format("move it before it is returned: {0} = {0}.to({1})", variable, device);
    }
    return remedy;
  }

  // "input_ids.device": an argument of the maker that is on the device that is wanted, known from
  // the inputs that the raising function has in hand.
  std::string argument_there(const Frame& maker) const {
    const std::string signature = enclosing_signature(maker.file, maker.line);
    for (const Suspect& suspect : in_hand_) {
      const std::string& spelled = suspect.argument.name;  // inputs["input_ids"]
      const auto open = spelled.find("[\"");
      if (open == spelled.npos || !is_named(suspect.device, devices_.expected)) continue;
      const std::string key = spelled.substr(open + 2, spelled.size() - open - 4);
      const bool is_name = std::ranges::all_of(
          key, [](unsigned char letter) { return std::isalnum(letter) || letter == '_'; });
      if (is_name && has_word(signature, key)) return key + ".device";
    }
    return {};
  }

  const Scene& scene_;
  const std::vector<Suspect>& in_hand_;
  const DevicesInMessage& devices_;
};

}  // namespace

bool shows_mismatch(const Uncaught& uncaught) {
  if (is_plainly_about_placement(uncaught.message)) return true;
  const DevicesInMessage devices = devices_in(uncaught.message);
  if (!uncaught.tensors_known) {
    return !devices.expected.empty() && !devices.found.empty() && devices.expected != devices.found;
  }
  const std::vector<Suspect>& suspects = uncaught.scene.suspects;
  return first_on(uncaught.scene, devices.found) ||
         std::ranges::any_of(suspects, [&](const Suspect& suspect) {
           return suspect.device != suspects.front().device;
         });
}

Finding make_uncaught_finding(Uncaught uncaught, RunFacts facts) {
  Scene& scene = uncaught.scene;
  const std::vector<Suspect> in_hand = scene.suspects;
  const DevicesInMessage devices = devices_in(uncaught.message);
  keep_involved(scene, devices);
  if (scene.suspects.size() > kMaxShown) scene.suspects.resize(kMaxShown);
  const std::optional<std::size_t> odd = first_on(scene, devices.found);
  const Advisor advisor(scene, in_hand, devices);
  const Remedy remedy = odd ? advisor.for_odd(scene.suspects[*odd]) : advisor.without_odd();

  Finding finding;
  finding.rule = "device-mismatch";
  finding.level = Level::kError;
  finding.message = fmt::format("{}: {}", scene.op, printable(uncaught.message));
  finding.place = remedy.place;
  finding.why = remedy.why;
  finding.advice = remedy.advice;
  if (odd) finding.path = path_steps(scene.use, scene.suspects[*odd]);
  facts.error = fmt::format("{}: {}", uncaught.type, printable(uncaught.message));
  add_scene(facts, scene, odd);
  finding.run = std::move(facts);
  return finding;
}

}  // namespace devsan::trace
