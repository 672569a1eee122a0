// One run of `devsan lint`: files, flags, PCHs, threads, and the order of what comes out.
#pragma once

#include "options.h"
#include "report.h"

namespace devsan::lint {

// Throws std::invalid_argument for wrong use and std::runtime_error for what else stops the whole
// run.
RunReport lint(const Options& options);

}  // namespace devsan::lint
