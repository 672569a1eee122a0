// Ordering and joining the findings of several processes.
#include "devsan/findings/merge.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

namespace devsan {
namespace {

auto run_order(const Finding& finding) {
  const RunFacts& run = *finding.run;
  return std::make_tuple(finding.level != Level::kError, run.collectives, run.time_us, run.rank);
}

std::string odd_argument(const RunFacts& run) {
  const auto odd = std::ranges::find_if(run.arguments, &Argument::odd);
  return odd == run.arguments.end() ? std::string() : odd->name;
}

auto cause(const Finding& finding) {
  const RunFacts& run = *finding.run;
  return std::make_tuple(finding.rule, finding.place.file, finding.place.line, run.op.name,
                         run.op.backward, odd_argument(run));
}

std::string cause_key(const Finding& finding) {
  return std::apply([](const auto&... parts) { return (fmt::format("{}\n", parts) + ...); },
                    cause(finding));
}

void add_ranks(RunFacts& to, const RunFacts& from) {
  if (to.ranks.empty()) to.ranks.push_back(to.rank);
  if (from.ranks.empty()) {
    to.ranks.push_back(from.rank);
  } else {
    to.ranks.insert(to.ranks.end(), from.ranks.begin(), from.ranks.end());
  }
  std::ranges::sort(to.ranks);
  const auto repeated = std::ranges::unique(to.ranks);
  to.ranks.erase(repeated.begin(), repeated.end());
  if (to.ranks.size() == 1) to.ranks.clear();
}

std::vector<Finding> join_runs(std::vector<Finding> runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {},
                    [&](std::size_t i) { return std::make_pair(run_order(runs[i]), i); });
  std::vector<Finding> joined;
  std::unordered_map<std::string, std::size_t> known;
  for (const std::size_t i : order) {
    const auto [entry, is_new] = known.try_emplace(cause_key(runs[i]), joined.size());
    if (is_new) {
      joined.push_back(std::move(runs[i]));
    } else {
      add_ranks(*joined[entry->second].run, *runs[i].run);
    }
  }
  return joined;
}

}  // namespace

bool same_cause(const Finding& a, const Finding& b) {
  return cause(a) == cause(b);
}

std::vector<Finding> merge_findings(std::vector<Finding> findings) {
  std::vector<Finding> merged;
  std::vector<Finding> runs;
  for (Finding& finding : findings) {
    if (finding.run) {
      runs.push_back(std::move(finding));
    } else if (std::ranges::find(merged, finding) == merged.end()) {
      merged.push_back(std::move(finding));
    }
  }
  runs = join_runs(std::move(runs));
  merged.insert(merged.end(), std::make_move_iterator(runs.begin()),
                std::make_move_iterator(runs.end()));
  return merged;
}

void drop_what_others_refute(std::vector<Finding>& findings,
                             std::span<const ReportedProcess> processes) {
  const auto is_anothers_own = [&](const Finding& finding) {
    return std::ranges::any_of(processes, [&](const ReportedProcess& process) {
      return process.pid != finding.run->process && !finding.run->arguments.empty() &&
             process.own_device == finding.run->arguments.front().device;
    });
  };
  std::set<std::pair<std::string, int>> lines_of_errors;
  for (const Finding& finding : findings) {
    if (finding.level == Level::kError) {
      lines_of_errors.emplace(finding.place.file, finding.place.line);
    }
  }
  std::erase_if(findings, [&](const Finding& finding) {
    return finding.run && finding.rule == "rank-affinity" &&
           (!is_anothers_own(finding) ||
            lines_of_errors.contains({finding.place.file, finding.place.line}));
  });
}

std::string ranks_text(std::span<const int> ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", ranks[first])
                          : fmt::format("{}-{}", ranks[first], ranks[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace devsan
