// Makes the Finding of a device mismatch.
#pragma once

#include "core/scene.h"
#include "devsan/findings/finding.h"

namespace devsan::trace {

// Frames of a site, innermost first: C++ frames stand inside Python's.
Stack symbolize(const Site& site);

// A suspect's chain of origins as steps.
std::vector<Step> path_of(const OriginRef& origin);

// `facts` holds what the scene does not: step, sequence, error, process. Its arguments and stacks
// are filled in from the scene.
Finding make_finding(const Scene& scene, RunFacts facts);

}  // namespace devsan::trace
