// Makes the Finding of a device mismatch.
#pragma once

#include "core/scene.h"
#include "devsan/findings/finding.h"

namespace devsan::trace {

// Frames of a site, innermost first: C++ frames stand inside Python's.
Stack symbolize(const Site& site);

// A suspect's chain of origins as steps.
std::vector<Step> path_of(const OriginRef& origin);

// The same in the words of findings.
std::vector<PathStep> path_steps(const std::vector<Step>& path);

// That, behind the use of the odd one itself.
std::vector<PathStep> path_steps(const Stack& use, const Suspect& odd);

// "weight (head.weight) is on cuda:1".
std::string described(const Suspect& suspect);

// The scene's arguments and stacks as facts.
void add_scene(RunFacts& facts, const Scene& scene, std::optional<std::size_t> odd);

// `facts` holds what the scene does not: step, sequence, error, process. Its arguments and stacks
// are filled in from the scene.
Finding make_finding(const Scene& scene, RunFacts facts);

}  // namespace devsan::trace
