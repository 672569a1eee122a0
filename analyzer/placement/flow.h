// Follows devices through a function's control flow until nothing changes.
#pragma once

#include "clang/AST/Decl.h"
#include "unit_analysis.h"

namespace devsan::lint {

// `function` has a body and is no template. Callees are followed first, through `unit`.
FunctionFlow follow_devices(const clang::FunctionDecl& function, UnitAnalysis& unit);

}  // namespace devsan::lint
