// What a translation unit tells the others of a run, and is told by them.
#pragma once

#include <set>
#include <string>

#include "../placement/summary.h"
#include "missing_device_guard.h"

namespace devsan::lint {

struct UnitExchange {
  const SummaryTable* known = nullptr;  // given: of what is defined in other units; may be null
  SummaryTable summaries;               // of what others can call
  std::set<std::string> asked;          // of what the summaries, if there are any, would be used
  GuardQuestions guards;
};

}  // namespace devsan::lint
