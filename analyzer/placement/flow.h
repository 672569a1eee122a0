// Follows devices through a function's control flow until nothing changes.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "evaluate.h"

namespace devsan::lint {

enum class FlowOutcome {
  kDone,
  kNothingToFollow,  // no device is named in the function
  kOverLimit,        // too large, or too slow to settle: not analysed
};

// Hands on every meeting of values whose devices conflict, each op once, in the order in
// which control reaches it. `function` has a body and is no template.
FlowOutcome follow_devices(const clang::FunctionDecl& function, clang::ASTContext& context,
                           OnMeeting on_meeting);

}  // namespace devsan::lint
