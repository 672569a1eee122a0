// Telling a library's own moves from those that the program asked for, and the findings of them.
#include "core/silent_move.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/place.h"
#include "core/report.h"
#include "core/source.h"

namespace devsan::trace {
namespace {

// Whether the stack ends in a library that PyTorch called, as a module or a hook of one, inside the
// user's innermost frame.
bool is_in_librarys_module(const Stack& stack) {
  bool in_library = false;
  for (const OwnedFrame& frame : stack) {
    if (frame.owner == Owner::kUser) return false;
    if (frame.owner == Owner::kInternal) {
      if (in_library && is_module_call(frame.frame)) return true;
      continue;
    }
    if (is_standard_library(frame.frame.file)) continue;
    in_library = true;
    // C++ modules are called directly.
    if (!is_python_file(frame.frame.file) && is_forward(frame.frame)) return true;
  }
  return false;
}

bool is_move(const Traffic& traffic) {
  return traffic.kind == Origin::Kind::kMoved || traffic.kind == Origin::Kind::kFilled;
}

// A tensor that the library made from nothing in a module's call: its own business.
bool is_librarys_constant(const std::vector<Step>& source) {
  if (source.empty()) return false;
  const Step& step = source.front();
  const bool from_nothing =
      (step.kind == Origin::Kind::kCreated && step.link == Origin::Link::kNone) ||
      (step.kind == Origin::Kind::kFirstSeen && step.op == "aten::lift_fresh");
  return from_nothing && is_in_librarys_module(step.stack);
}

bool is_helper(const std::string& file) {
  return file.find("/utils/") != file.npos || file.find("utilities/") != file.npos ||
         file.ends_with("_utils.py") || is_standard_library(file);
}

// The library's line that decided: the innermost one that is not in a helper of many callers.
const OwnedFrame* deciding_frame(const Stack& stack) {
  const OwnedFrame* innermost = nullptr;
  for (const OwnedFrame& frame : stack) {
    if (frame.owner == Owner::kUser || (innermost && is_module_call(frame.frame))) break;
    if (frame.owner != Owner::kLibrary) continue;
    if (!innermost) innermost = &frame;
    if (!is_helper(frame.frame.file)) return &frame;
  }
  return innermost;
}

// Whether a library decided to make the move, in the midst of its own work: not where the user
// called a function of it that moves things.
bool is_librarys_decision(const Stack& stack) {
  const OwnedFrame* mover = nullptr;
  bool decided = false;
  for (const OwnedFrame& frame : stack) {
    if (frame.owner == Owner::kUser) break;
    if (frame.owner == Owner::kInternal || is_standard_library(frame.frame.file)) continue;
    if (!mover) mover = &frame;
    const bool another = frame.frame.function != mover->frame.function;
    decided = decided || (another && !is_helper(frame.frame.file));
  }
  return decided;
}

std::string library_place(const OwnedFrame& frame) {
  return fmt::format("{}:{}", package_path(frame.frame.file), frame.frame.line);
}

// "12.0 KiB a step (2 tensors a step, 6 steps)"; "24.0 KiB (3 tensors)" where nothing is trained.
std::string amount(const Traffic& moved) {
  const auto plural = [](std::int64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  if (moved.steps <= 1) {
    return fmt::format("{} ({})", size_text(moved.bytes), plural(moved.count, "tensor"));
  }
  const std::string per_step =
      moved.count % moved.steps == 0
          ? plural(moved.count / moved.steps, "tensor")
          : fmt::format("{:.1f} tensors",
                        static_cast<double>(moved.count) / static_cast<double>(moved.steps));
  return fmt::format("{} a step ({} a step, {})", size_text(moved.bytes / moved.steps), per_step,
                     plural(moved.steps, "step"));
}

std::string advice_for(const Traffic& moved, const OwnedFrame& library) {
  if (!is_silent_move(moved)) {
    return "nothing, unless the copy costs too much: this is how frameworks bring batches and "
           "modules to a device";
  }
  if (package_path(library.frame.file) == "accelerate/hooks.py") {
    return "this is how accelerate's dispatch_model joins modules on different devices; to spare "
           "the copy, give modules that follow each other one device in the device map";
  }
  if (moved.from.is_cpu()) {
    return fmt::format(
        "bring it to {} where the program makes its inputs ready, so that it is moved once and by "
        "you",
        to_string(moved.to));
  }
  return fmt::format("to spare the copy, hand it over on {} in the first place",
                     to_string(moved.to));
}

void add(Traffic& sum, const Traffic& part) {
  sum.count += part.count;
  sum.bytes += part.bytes;
  sum.steps = std::max(sum.steps, part.steps);
  if (part.first_sequence < sum.first_sequence) {
    sum.first_step = part.first_step;
    sum.first_collectives = part.first_collectives;
    sum.first_sequence = part.first_sequence;
    sum.first_time_us = part.first_time_us;
  }
}

Finding finding_of(const Traffic& moved, const RunFacts& process) {
  const OwnedFrame& library = *deciding_frame(moved.stack);
  const OwnedFrame* caller = innermost_user_frame(moved.stack);
  const std::string place = library_place(library);

  Finding finding;
  finding.rule = "silent-move";
  finding.level = is_silent_move(moved) ? Level::kWarning : Level::kNote;
  finding.place = place_of(caller ? caller : &library);
  finding.message = fmt::format("{} moved {} from {} to {}", place, amount(moved),
                                to_string(moved.from), to_string(moved.to));
  if (caller) {
    finding.message +=
        fmt::format(", in the call at {}", short_place(caller->frame.file, caller->frame.line));
  }
  finding.why =
      fmt::format("{} decided that; the program did not ask for it.", library.frame.function);
  finding.advice = advice_for(moved, library);

  std::vector<Step> path = {
      {moved.kind, Origin::Link::kSame, moved.to, moved.op, false, moved.stack}};
  path.insert(path.end(), moved.source.begin(), moved.source.end());
  finding.path = path_steps(path);
  finding.path.front().place = place_of(&library);

  finding.run = facts_of(moved, process);
  finding.run->arguments = {
      {place, moved.dtype, moved.shape, to_string(moved.to), std::nullopt, true}};
  return finding;
}

}  // namespace

bool is_silent_move(const Traffic& traffic) {
  return is_move(traffic) && is_in_librarys_module(traffic.stack) &&
         !is_librarys_constant(traffic.source);
}

bool is_delivery(const Traffic& traffic) {
  return is_move(traffic) && is_librarys_decision(traffic.stack) &&
         !is_in_librarys_module(traffic.stack) && !is_librarys_constant(traffic.source);
}

std::vector<Finding> silent_moves(std::span<const Traffic> traffic, const RunFacts& process) {
  const auto place = [](const OwnedFrame* frame) {
    return frame ? std::make_pair(frame->frame.file, frame->frame.line)
                 : std::make_pair(std::string(), 0);
  };
  std::map<std::tuple<bool, std::pair<std::string, int>, std::pair<std::string, int>, std::string,
                      std::string>,
           Traffic>
      sums;
  for (const Traffic& moved : traffic) {
    if (!is_silent_move(moved) && !is_delivery(moved)) continue;
    const auto [entry, is_new] = sums.try_emplace(
        {is_silent_move(moved), place(deciding_frame(moved.stack)),
         place(innermost_user_frame(moved.stack)), to_string(moved.from), to_string(moved.to)},
        moved);
    if (!is_new) add(entry->second, moved);
  }
  std::vector<const Traffic*> ordered;
  for (const auto& [key, sum] : sums) ordered.push_back(&sum);
  std::ranges::sort(ordered, {}, [](const Traffic* sum) {
    return std::make_pair(-sum->bytes, sum->first_sequence);
  });

  std::vector<Finding> findings;
  std::map<std::pair<std::string, int>, int> routes;  // of one library line and one user's line
  for (const Traffic* moved : ordered) {
    Finding finding = finding_of(*moved, process);
    std::string& name = finding.run->arguments.front().name;
    // Reports of several ranks are joined by place and argument, whatever the devices: routes of
    // one process that share both are told apart by a number.
    const int route = ++routes[{name + finding.place.file, finding.place.line}];
    if (route > 1) name += fmt::format(" (route {})", route);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace devsan::trace
