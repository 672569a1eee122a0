// Parses the file and matches its globs.
#include "suppressions.h"

#include <fstream>
#include <stdexcept>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/GlobPattern.h"

namespace devsan::lint {
namespace {

bool is_glob(llvm::StringRef text) {
  auto pattern = llvm::GlobPattern::create(text);
  if (pattern) return true;
  llvm::consumeError(pattern.takeError());
  return false;
}

bool glob_matches(llvm::StringRef glob, llvm::StringRef text) {
  auto pattern = llvm::GlobPattern::create(glob);
  if (pattern) return pattern->match(text);
  llvm::consumeError(pattern.takeError());
  return false;
}

}  // namespace

Suppressions::Suppressions(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::invalid_argument("--suppressions: cannot read '" + path + "'");
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const llvm::StringRef text = llvm::StringRef(line).split('#').first.trim();
    if (text.empty()) continue;
    const auto [what, reason] = text.split(' ');
    const auto [rule, files] = what.split(':');
    const std::string place = path + ":" + std::to_string(number);
    if (rule.empty() || files.empty() || reason.trim().empty() || !is_glob(rule) ||
        !is_glob(files)) {
      throw std::invalid_argument("--suppressions: " + place + ": '" + text.str() +
                                  "' is not 'rule:files reason'");
    }
    entries_.push_back({rule.str(), files.str(), place, text.str(), false});
  }
}

bool Suppressions::matches(const Entry& entry, const Finding& finding) {
  const bool rule =
      glob_matches(entry.rule, "devsan-" + finding.rule) || glob_matches(entry.rule, finding.rule);
  const llvm::StringRef file = finding.place.file;
  return rule && (glob_matches(entry.files, file) || glob_matches("*/" + entry.files, file));
}

int Suppressions::apply(std::vector<Finding>& findings) {
  const std::size_t before = findings.size();
  std::erase_if(findings, [this](const Finding& finding) {
    bool suppressed = false;
    for (Entry& entry : entries_) {
      if (!matches(entry, finding)) continue;
      entry.used = true;
      suppressed = true;
    }
    return suppressed;
  });
  return static_cast<int>(before - findings.size());
}

std::vector<std::string> Suppressions::stale() const {
  std::vector<std::string> lines;
  for (const Entry& entry : entries_) {
    if (!entry.used) lines.push_back(entry.place + ": " + entry.text);
  }
  return lines;
}

}  // namespace devsan::lint
