// Runs the flow analysis over every function once and asks the rules that judge meetings.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "unit_exchange.h"

namespace devsan::lint {

struct DeviceFlowRules {
  bool unmoved_tensor = true;
  bool mixed_devices = true;
  bool factory_without_device = true;
};

// Returns how many functions were too large to be followed. `exchange` may be null.
int check_device_flow(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                      const DeviceFlowRules& rules, const std::string& project_root, Report report,
                      UnitExchange* exchange);

}  // namespace devsan::lint
