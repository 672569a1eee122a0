// Which rules run, and all of them over one translation unit: what every front end calls.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

struct RuleSet {
  bool dropped_move = true;
  bool hard_coded_device = true;
  bool hard_coded_device_set_up = false;  // opt-in: notes in programs' set-up and in tests

  // Changes the defaults by a list in clang-tidy's manner: `-devsan-x` leaves a rule out,
  // `devsan-y` puts it in, `*` stands for any letters, later entries win. What is opt-in must be
  // named in full. Throws std::invalid_argument with one line that says what is wrong and what is
  // accepted.
  static RuleSet parse(std::string_view list);
};

// `declarations` are the translation unit's own ones at top level; nothing else is looked at.
void run_rules(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
               const RuleSet& rules, const std::string& project_root, Report report);

}  // namespace devsan::lint
