// Summaries as JSON and back: for the cache, and as the part of a result's name that says what an
// analysis was told of other files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "placement/summary.h"

namespace devsan::lint {

nlohmann::json to_json(const SummaryTable& table);

// Throws for what to_json did not make.
SummaryTable summaries_of(const nlohmann::json& json);

}  // namespace devsan::lint
