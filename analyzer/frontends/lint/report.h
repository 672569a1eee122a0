// What a run says: findings to stdout or a file, everything else to stderr.
#pragma once

#include <ostream>
#include <vector>

#include "devsan/findings/finding.h"
#include "options.h"
#include "translation_unit.h"

namespace devsan::lint {

struct RunReport {
  std::vector<Finding> findings;  // ordered, each once
  std::vector<UnitReport> units;  // in the order of the input, their findings moved out
  int fixed = 0;
  int in_baseline = 0;
  int suppressed = 0;
  int unchanged = 0;               // findings on lines that did not change, with --since
  std::vector<std::string> stale;  // suppressions and allow comments that silence nothing
  double seconds = 0;
  int from_cache = 0;  // units whose results were known
  int pchs_built = 0;
  double pch_seconds = 0;
};

// JSON gets one addition to what findings have in common: "files", with how much of each was
// understood.
void write_findings(std::ostream& out, const RunReport& report, Format format);

// Files that could not be analysed or only in part, inferred flags, and the summary line.
void write_summary(std::ostream& err, const RunReport& report);

}  // namespace devsan::lint
