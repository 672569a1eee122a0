// One file: parsed over the header PCH, its own declarations looked through by the rules.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <vector>

#include "checks/missing_device_guard.h"
#include "checks/rule_set.h"
#include "checks/unit_exchange.h"
#include "compile_flags.h"
#include "devsan/findings/finding.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "own_code.h"
#include "parse_confidence.h"

namespace devsan::lint {

// A `devsan: allow` comment of the project's own code.
struct AllowUse {
  std::string file;
  unsigned line = 0;
  std::string rule;
  bool has_reason = false;

  auto operator<=>(const AllowUse&) const = default;
};

// A finding that holds when no caller in the whole run says otherwise.
struct HeldFinding {
  GuardQuestion question;
  Finding finding;
};

// The cache keeps it whole: what is added here is added in unit_text.cpp.
struct UnitReport {
  std::string file;
  std::string failure;  // why it could not be analysed; empty when it was
  std::vector<Finding> findings;
  std::vector<HeldFinding> held;
  GuardFacts guard_facts;  // what answers the questions of other units
  ParseConfidence confidence;
  std::vector<std::string> missing_headers;  // as the file includes them
  std::string first_error;                   // clang's, with its place; empty when there is none
  std::set<std::string> own_files;           // of the project, read on the way; absolute
  bool inferred_flags = false;
  bool cuda_headers_missing = false;  // a CUDA file that was read without them
  std::set<AllowUse> allows;          // every one that was read
  std::set<AllowUse> allows_used;     // those that silenced something
  int functions_over_limit = 0;       // too large to follow devices through
  SummaryTable summaries;             // of what other units can call
  std::set<std::string> asked;        // whose summaries it would use: names in a SummaryTable
  int summaries_used = 0;             // of other units, that it was given
};

// Never throws for what is in the file. `pch` may be empty; `files` is where all else is read from;
// `known` is what other units told of what this one asked for.
UnitReport analyse_unit(const std::string& file, const FileFlags& flags, const std::string& pch,
                        llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, const OwnCode& own,
                        const RuleSet& rules, const SummaryTable& known = {});

}  // namespace devsan::lint
