// Rule mixed-devices: two values known to be on different CUDA devices meet.
#pragma once

#include <optional>

#include "../placement/evaluate.h"
#include "diagnostic.h"

namespace devsan::lint {

inline constexpr const char* kMixedDevices = "mixed-devices";

std::optional<Diagnostic> mixed_devices(const Meeting& meeting, const clang::ASTContext& context);

}  // namespace devsan::lint
