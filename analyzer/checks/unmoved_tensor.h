// Rule unmoved-tensor: what is known to be on the CPU meets what is known to be on a CUDA device.
#pragma once

#include <optional>

#include "../placement/evaluate.h"
#include "diagnostic.h"

namespace devsan::lint {

inline constexpr const char* kUnmovedTensor = "unmoved-tensor";

std::optional<Diagnostic> unmoved_tensor(const Meeting& meeting, const clang::ASTContext& context);

}  // namespace devsan::lint
