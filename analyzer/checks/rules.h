// All rules over one translation unit: what every front end calls.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "rule_set.h"
#include "unit_exchange.h"

namespace devsan::lint {

struct RuleStatistics {
  int functions_over_limit = 0;  // too large for the rules that follow devices through a function
  // Where code is nested too deep for any rule; nothing was looked at then. Else invalid.
  clang::SourceLocation too_deep;
};

// `declarations` are the translation unit's own ones at top level; nothing else is looked at. Where
// `exchange` is given, what depends on callers in other units is put there, not reported.
RuleStatistics run_rules(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                         const RuleSet& rules, const std::string& project_root, Report report,
                         UnitExchange* exchange = nullptr);

}  // namespace devsan::lint
