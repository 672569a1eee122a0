// The rules, as data: `devsan explain`, SARIF's rules and the docs index are made from this.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "devsan/findings/finding.h"

namespace devsan {

enum class Half { kLint, kRun };

struct Rule {
  std::string_view id;
  Half half;
  Level level;
  std::string_view summary;  // one line: what it finds
  std::string_view page;     // docs/rules/<page>.md, also installed for `devsan explain`
};

// Every rule of this release, lint's first, each half by id.
std::span<const Rule> rules();

// Null when there is no such rule. Takes lint's ids with and without "devsan-".
const Rule* find_rule(std::string_view id, Half half);

// The id as users see it: "devsan-dropped-move" for lint, "device-mismatch" for run.
std::string public_id(const Finding& finding);

}  // namespace devsan
