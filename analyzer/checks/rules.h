// All rules over one translation unit: what every front end calls.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "rule_set.h"

namespace devsan::lint {

// `declarations` are the translation unit's own ones at top level; nothing else is looked at.
void run_rules(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
               const RuleSet& rules, const std::string& project_root, Report report);

}  // namespace devsan::lint
