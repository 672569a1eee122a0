// Who is to blame for a refused collective, and the edit.
#include "core/collective.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/messages.h"
#include "core/place.h"
#include "core/remedy.h"
#include "core/report.h"
#include "core/source.h"

namespace devsan::trace {
namespace {

struct Verdict {
  std::optional<std::size_t> odd;
  SourceRange place;
  std::string message;
  std::string why;
  std::string advice;
};

bool is_python(const SourceRange& place) {
  return is_python_file(place.file);
}

// "rank 1" or, of a job that nothing is known of, "this rank".
std::string rank_text(const RunFacts& facts) {
  return facts.world_size > 1 ? fmt::format("rank {}", facts.rank) : std::string("this rank");
}

// Two ranks use one GPU: not this tensor but the process is in the wrong place.
Verdict shared_gpu(const Scene& scene, const DeviceUse& use, const RunFacts& facts) {
  Verdict verdict;
  const Device device =
      scene.suspects.empty() ? use.own.value_or(Device{1, 0}) : scene.suspects.front().device;
  verdict.place = place_of(innermost_user_frame(use.first_use));
  const bool first_known = verdict.place.known();
  if (!first_known) verdict.place = place_of(innermost_user_frame(scene.use));
  verdict.message = fmt::format("{}: {} and another rank are both on {}", scene.op,
                                rank_text(facts), to_string(device));
  verdict.why = fmt::format(
      "NCCL takes one rank a GPU; {} came to {}{}.", rank_text(facts),
      to_string(first_known ? use.first : device),
      first_known ? fmt::format(" at {}", short_place(verdict.place.file, verdict.place.line))
                  : std::string());
  verdict.advice =
      fmt::format("make the rank's own GPU current before this, its first use of CUDA: {}",
                  is_python(verdict.place) ? "torch.cuda.set_device(local_rank)"
                                           : "c10::cuda::set_device(local_rank)");
  return verdict;
}

// The tensor that the backend does not take: of several, the one that is not like the rest.
std::size_t refused(const Scene& scene, const DeviceUse& use) {
  for (std::size_t i = 0; i < scene.suspects.size(); ++i) {
    const Device device = scene.suspects[i].device;
    if (use.own ? device != *use.own : device.is_cpu()) return i;
  }
  return 0;
}

std::string device_to_use(const DeviceUse& use) {
  return use.own ? "\"" + to_string(*use.own) + "\"" : std::string("device");
}

Verdict refused_tensor(const Scene& scene, const DeviceUse& use, const RunFacts& facts) {
  Verdict verdict;
  verdict.place = place_of(innermost_user_frame(scene.use));
  if (scene.suspects.empty()) {
    verdict.message = fmt::format("{}: {}", scene.op, facts.error);
    verdict.advice = "give the collective tensors on this rank's own device";
    return verdict;
  }
  verdict.odd = refused(scene, use);
  const Suspect& odd = scene.suspects[*verdict.odd];
  verdict.message = fmt::format("{}: {}", scene.op, described(odd));

  // A literal of the user's that put it there is the line to change; else it is moved where it is
  // handed to the collective.
  if (const auto literal = deciding_literal(scene, odd)) {
    verdict.place = place_of(innermost_user_frame(deciding_step(odd).step->stack));
    verdict.why =
        fmt::format("The literal {} put it there; {} owns {}.", *literal, rank_text(facts),
                    use.own ? to_string(*use.own) : std::string("another device"));
    verdict.advice = odd.device.is_cpu()
                         ? fmt::format("leave it on this rank's own device, without {}", *literal)
                         : fmt::format("use this rank's own device instead of {}", *literal);
    return verdict;
  }
  const std::string name = odd.variable             ? *odd.variable
                           : odd.argument.parameter ? *odd.argument.parameter
                                                    : odd.argument.name;
  verdict.why = fmt::format("'{}' is on {}; the process group's backend takes tensors on {}.", name,
                            to_string(odd.device),
                            use.own ? to_string(*use.own) : std::string("this rank's GPU"));
  verdict.advice = use.own ? fmt::format("give the collective {}.to({}), this rank's own device",
                                         name, device_to_use(use))
                           : fmt::format(
                                 "give the collective {}.to(device), with this rank's own "
                                 "device",
                                 name);
  return verdict;
}

}  // namespace

Finding make_collective_finding(const Scene& scene, const DeviceUse& use, RunFacts facts) {
  const Verdict verdict = is_about_shared_gpu(facts.error) ? shared_gpu(scene, use, facts)
                                                           : refused_tensor(scene, use, facts);
  Finding finding;
  finding.rule = "collective-device";
  finding.level = Level::kError;
  finding.place = verdict.place;
  finding.message = verdict.message;
  finding.why = verdict.why;
  finding.advice = verdict.advice;
  if (verdict.odd) finding.path = path_steps(scene.use, scene.suspects[*verdict.odd]);
  // NCCL says on its last lines what it found.
  const auto detail =
      is_about_shared_gpu(facts.error) ? facts.error.find("Duplicate GPU") : std::string::npos;
  facts.error = first_line(detail == std::string::npos ? facts.error : facts.error.substr(detail));
  add_scene(facts, scene, verdict.odd);
  finding.run = std::move(facts);
  return finding;
}

}  // namespace devsan::trace
