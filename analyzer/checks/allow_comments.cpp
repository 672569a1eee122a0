// Reads the comments of a file line by line.
#include "allow_comments.h"

#include "llvm/ADT/SmallVector.h"

namespace devsan::lint {
namespace {

constexpr llvm::StringRef kOpen = "devsan: allow(";

bool is_comment_or_blank(llvm::StringRef line) {
  line = line.trim();
  return line.empty() || line.starts_with("//");
}

}  // namespace

std::vector<AllowComment> allow_comments(llvm::StringRef text) {
  std::vector<AllowComment> comments;
  if (!text.contains(kOpen)) return comments;
  llvm::SmallVector<llvm::StringRef, 0> lines;
  text.split(lines, '\n');
  for (unsigned i = 0; i < lines.size(); ++i) {
    const auto [code, comment] = lines[i].split("//");
    const std::size_t at = comment.find(kOpen);
    if (at == llvm::StringRef::npos) continue;
    const auto [rules, reason] = comment.drop_front(at + kOpen.size()).split(')');
    unsigned covers = i;
    if (code.trim().empty()) {
      do ++covers;
      while (covers + 1 < lines.size() && is_comment_or_blank(lines[covers]));
    }
    llvm::SmallVector<llvm::StringRef, 2> names;
    rules.split(names, ',', -1, false);
    for (const llvm::StringRef name : names) {
      comments.push_back({i + 1, covers + 1, name.trim().str(), !reason.trim().empty()});
    }
  }
  return comments;
}

bool allows(const AllowComment& comment, llvm::StringRef rule, unsigned line) {
  llvm::StringRef name = comment.rule;
  name.consume_front("devsan-");
  return comment.covers == line && name == rule && comment.has_reason;
}

}  // namespace devsan::lint
