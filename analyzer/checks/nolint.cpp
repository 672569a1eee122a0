// Reads the comments of a file line by line.
#include "nolint.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

namespace devsan::lint {
namespace {

bool names_rule(llvm::StringRef list, llvm::StringRef rule) {
  llvm::SmallVector<llvm::StringRef, 4> names;
  list.split(names, ',', -1, false);
  for (const llvm::StringRef name : names) {
    auto pattern = llvm::GlobPattern::create(name.trim());
    if (!pattern) {
      llvm::consumeError(pattern.takeError());
    } else if (pattern->match(rule)) {
      return true;
    }
  }
  return false;
}

// True when `line` has the keyword, and with no list behind it or one that names the rule.
bool has(llvm::StringRef line, llvm::StringRef keyword, llvm::StringRef rule) {
  for (std::size_t at = line.find(keyword); at != llvm::StringRef::npos;
       at = line.find(keyword, at + 1)) {
    llvm::StringRef rest = line.drop_front(at + keyword.size());
    const bool longer_word = !rest.empty() && (llvm::isAlnum(rest.front()) || rest.front() == '_');
    if (longer_word) continue;
    if (!rest.consume_front("(")) return true;
    if (names_rule(rest.take_until([](char letter) { return letter == ')'; }), rule)) return true;
  }
  return false;
}

}  // namespace

bool is_silenced(llvm::StringRef text, unsigned line, llvm::StringRef rule) {
  if (!text.contains("NOLINT")) return false;
  int open = 0;
  bool next_line = false;
  for (unsigned number = 1; number <= line && (number == 1 || !text.empty()); ++number) {
    llvm::StringRef current;
    std::tie(current, text) = text.split('\n');
    if (number == line) return open > 0 || next_line || has(current, "NOLINT", rule);
    next_line = has(current, "NOLINTNEXTLINE", rule);
    if (has(current, "NOLINTBEGIN", rule)) ++open;
    if (open > 0 && has(current, "NOLINTEND", rule)) --open;
  }
  return false;
}

}  // namespace devsan::lint
