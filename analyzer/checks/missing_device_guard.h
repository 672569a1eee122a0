// Rule missing-device-guard: work for a tensor's device is started on whatever device is current.
//
// Whether a function needs a guard is its callers' matter too, and those may be in other files: the
// rule asks questions, which a translation unit, or better a whole run, then answers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "guard_callers.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kMissingDeviceGuard = "missing-device-guard";

// What is asked of the callers before something is said of a function.
struct GuardQuestion {
  std::string function;
  std::string launcher;  // what it calls to work on the device; empty when it does so itself

  bool is_answered_by(const GuardCallers& callers) const;
};

// The functions to be told: of one that calls another only the outer, whose guard helps both.
std::set<std::string> unguarded_functions(const std::vector<GuardQuestion>& questions,
                                          const GuardCallers& callers);

struct GuardQuestions {
  struct Candidate {
    GuardQuestion question;
    Diagnostic diagnostic;
  };

  GuardFacts facts;
  std::vector<Candidate> candidates;  // in order; of a function the first that holds counts
};

GuardQuestions guard_questions(clang::ASTContext& context,
                               llvm::ArrayRef<clang::Decl*> declarations,
                               const std::string& project_root);

// By what the translation unit itself tells.
void check_missing_device_guard(const GuardQuestions& questions, Report report);

}  // namespace devsan::lint
