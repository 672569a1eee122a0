// The findings of several reports as one list: a fault that ranks share is said once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan {

// Whether two findings of runs are one mistake: the same rule, op, argument and line to change,
// whatever the rank and its devices.
bool same_cause(const Finding& a, const Finding& b);

// Findings of lint first, in their order, each once. Then those of runs: errors before warnings,
// and each in the order of the run, which is that of the collectives seen and, between two
// collectives, of the clock (clocks of machines differ, but ranks meet in every collective). Of
// findings with the same cause the first stays, and its `ranks` are those of all of them.
std::vector<Finding> merge_findings(std::vector<Finding> findings);

// Drops what the processes of one run could not know by themselves: of rank-affinity the findings
// whose device is no other process's own (a rank may own several GPUs), and those on a line that an
// error names anyhow.
void drop_what_others_refute(std::vector<Finding>& findings,
                             std::span<const ReportedProcess> processes);

// "0-2, 5" of {0, 1, 2, 5}; the ranks ascend.
std::string ranks_text(std::span<const int> ranks);

}  // namespace devsan
