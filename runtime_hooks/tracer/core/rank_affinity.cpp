// From counted placements to findings about other ranks' devices.
#include "core/rank_affinity.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/place.h"
#include "core/report.h"
#include "core/source.h"

namespace devsan::trace {
namespace {

const OwnedFrame* culprit(const Stack& stack) {
  if (const OwnedFrame* user = innermost_user_frame(stack)) return user;
  return innermost_shown_frame(stack);
}

Finding finding_of(const Traffic& sum, Device own, const RunFacts& process) {
  const OwnedFrame* frame = culprit(sum.stack);
  const std::string other = to_string(sum.to);
  Finding finding;
  finding.rule = "rank-affinity";
  finding.level = Level::kWarning;
  finding.place = place_of(frame);
  finding.message =
      fmt::format("{} tensor{} ({}) came to {} here; this rank's own device is {}", sum.count,
                  sum.count == 1 ? "" : "s", size_text(sum.bytes), other, to_string(own));
  finding.why = fmt::format(
      "Rank {} has no business on {}: every rank that does so fills that "
      "GPU, and a collective there waits for ever.",
      process.rank, other);
  const auto literal =
      frame ? device_literal(source_statement(frame->frame.file, frame->frame.line), sum.to)
            : std::nullopt;
  finding.advice =
      literal ? fmt::format("use this rank's own device instead of {}", *literal)
              : std::string(
                    "use this rank's own device, or make it current before the first use of "
                    "CUDA: set_device(local_rank)");
  finding.path =
      path_steps({{sum.kind, Origin::Link::kNone, sum.to, sum.op, /*backward=*/false, sum.stack}});
  finding.run = facts_of(sum, process);
  finding.run->own_device = to_string(own);
  finding.run->arguments = {{"tensor", sum.dtype, sum.shape, other, std::nullopt, true}};
  return finding;
}

}  // namespace

std::vector<Finding> rank_affinity(std::span<const Traffic> traffic, Device own,
                                   const RunFacts& process) {
  std::map<std::tuple<std::string, int, std::int8_t>, Traffic> sums;
  for (const Traffic& placed : traffic) {
    if (placed.to.type != own.type || placed.to.index == own.index) continue;
    const OwnedFrame* frame = culprit(placed.stack);
    const auto [entry, is_new] = sums.try_emplace(
        {frame ? frame->frame.file : std::string(), frame ? frame->frame.line : 0, placed.to.index},
        placed);
    if (is_new) continue;
    entry->second.count += placed.count;
    entry->second.bytes += placed.bytes;
    entry->second.steps = std::max(entry->second.steps, placed.steps);
  }
  std::vector<Finding> findings;
  for (const auto& [key, sum] : sums) findings.push_back(finding_of(sum, own, process));
  std::ranges::sort(findings, {}, [](const Finding& finding) {
    return std::make_tuple(-finding.run->count, finding.place.file, finding.place.line);
  });
  return findings;
}

}  // namespace devsan::trace
