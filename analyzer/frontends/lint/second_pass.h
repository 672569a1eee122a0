// What units of a run learn of each other: those that call into other files are analysed again with
// the summaries that those files gave.
//
// Knows nothing of clang, so that it can be tested without.
#pragma once

#include <functional>
#include <vector>

#include "placement/summary.h"
#include "translation_unit.h"

namespace devsan::lint {

// A unit to be analysed again, by its number, and what it is told.
struct Again {
  std::size_t unit = 0;
  const SummaryTable* known = nullptr;
};

// Replaces the reports of units that other units' summaries say something to. A unit waits for
// those that it calls, so that it is analysed again once, however long the chain; units that call
// each other in a circle are analysed again a few times. `analyse` gives the reports in the order
// of its argument.
void second_pass(std::vector<UnitReport>& units,
                 const std::function<std::vector<UnitReport>(const std::vector<Again>&)>& analyse);

}  // namespace devsan::lint
