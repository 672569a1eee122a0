// Rounds over the units whose callees became known.
#include "second_pass.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace devsan::lint {
namespace {

// How often one unit is analysed again. Each time it says what is so; more times only say more.
constexpr int kMostTimes = 3;

bool says_something(const SummaryPlacement& placement) {
  return placement.known ||
         std::any_of(placement.parts.begin(), placement.parts.end(),
                     [](const auto& part) { return says_something(part.second); });
}

// A caller who knows this can conclude more than one who knows nothing.
bool says_something(const FunctionSummary& summary) {
  return !summary.requirements.empty() || says_something(summary.result) ||
         std::any_of(summary.effects.begin(), summary.effects.end(),
                     [](const auto& effect) { return says_something(effect.second); });
}

// Null where two units say different things: two functions have one name, and which of them is
// called is not known.
template <typename Summary>
using Pool = std::map<std::string, const Summary*>;

template <typename Summary>
void add(const std::map<std::string, Summary>& summaries, Pool<Summary>& pool) {
  for (const auto& [name, summary] : summaries) {
    const auto [entry, fresh] = pool.try_emplace(name, &summary);
    if (!fresh && entry->second != nullptr && *entry->second != summary) entry->second = nullptr;
  }
}

template <typename Summary>
const Summary* find(const Pool<Summary>& pool, const std::string& name) {
  const auto entry = pool.find(name);
  return entry == pool.end() ? nullptr : entry->second;
}

class SecondPass {
 public:
  explicit SecondPass(std::vector<UnitReport>& units)
      : units_(units), given_(units.size()), times_(units.size(), 0) {}

  // The units to analyse now; none when no unit would learn anything.
  std::vector<Again> next_round() {
    std::vector<std::size_t> waiting = learn();
    std::vector<std::size_t> ready = without_callers(waiting);
    if (ready.empty()) ready = std::move(waiting);  // they call each other in a circle
    std::vector<Again> round;
    for (const std::size_t unit : ready) {
      ++times_[unit];
      given_[unit] = std::move(wanted_[unit]);
      round.push_back({unit, &given_[unit]});
    }
    return round;
  }

 private:
  // The units that would be told something else than they were.
  std::vector<std::size_t> learn() {
    Pool<FunctionSummary> functions;
    Pool<ModuleSummary> modules;
    for (const UnitReport& unit : units_) {
      add(unit.summaries.functions, functions);
      add(unit.summaries.modules, modules);
    }
    wanted_.assign(units_.size(), {});
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (times_[i] == kMostTimes) continue;
      for (const std::string& name : units_[i].asked) {
        const FunctionSummary* function = find(functions, name);
        if (function != nullptr && says_something(*function)) {
          wanted_[i].functions.emplace(name, *function);
        }
        const ModuleSummary* module = find(modules, name);
        if (module != nullptr && !module->moved_with.empty()) {
          wanted_[i].modules.emplace(name, *module);
        }
      }
      if (wanted_[i] != given_[i]) waiting.push_back(i);
    }
    return waiting;
  }

  // Those that call none of the others.
  std::vector<std::size_t> without_callers(const std::vector<std::size_t>& waiting) const {
    std::set<std::string> unsettled;
    for (const std::size_t unit : waiting) {
      for (const auto& [name, summary] : units_[unit].summaries.functions) unsettled.insert(name);
    }
    std::vector<std::size_t> settled;
    std::copy_if(waiting.begin(), waiting.end(), std::back_inserter(settled), [&](std::size_t i) {
      return std::none_of(units_[i].asked.begin(), units_[i].asked.end(),
                          [&](const std::string& name) { return unsettled.count(name) > 0; });
    });
    return settled;
  }

  std::vector<UnitReport>& units_;
  std::vector<SummaryTable> wanted_;
  std::vector<SummaryTable> given_;
  std::vector<int> times_;
};

}  // namespace

void second_pass(std::vector<UnitReport>& units,
                 const std::function<std::vector<UnitReport>(const std::vector<Again>&)>& analyse) {
  SecondPass pass(units);
  while (true) {
    const std::vector<Again> round = pass.next_round();
    if (round.empty()) return;
    std::vector<UnitReport> reports = analyse(round);
    for (std::size_t i = 0; i < round.size(); ++i) units[round[i].unit] = std::move(reports[i]);
  }
}

}  // namespace devsan::lint
