// Edits by offset, from the first to the last.
#include "apply_fixes.h"

#include <algorithm>
#include <map>

#include "whole_files.h"

namespace devsan::lint {
namespace {

struct Edit {
  std::size_t begin;
  std::size_t end;
  const std::string* text;
};

// Offsets of the beginnings of lines.
std::vector<std::size_t> line_starts(const std::string& text) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts.push_back(i + 1);
  }
  return starts;
}

// False when the place is not in the file, which then is not the one that was analysed.
bool to_offset(const std::vector<std::size_t>& starts, std::size_t size, int line, int column,
               std::size_t& offset) {
  if (line < 1 || column < 1 || static_cast<std::size_t>(line) > starts.size()) return false;
  offset = starts[static_cast<std::size_t>(line) - 1] + static_cast<std::size_t>(column) - 1;
  return offset <= size;
}

bool is_same(const Edit& a, const Edit& b) {
  return a.begin == b.begin && a.end == b.end && *a.text == *b.text;
}

bool overlap(const Edit& a, const Edit& b) {
  if (a.begin == b.begin) return true;  // two insertions at one place would come in any order
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

std::string with_fixes(const std::string& text, std::span<const Finding* const> findings,
                       std::vector<std::size_t>& applied) {
  const std::vector<std::size_t> starts = line_starts(text);
  std::vector<Edit> accepted;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    std::vector<Edit> edits;
    bool usable = !findings[i]->fixes.empty();
    for (const Fix& fix : findings[i]->fixes) {
      Edit edit{0, 0, &fix.text};
      usable = usable &&
               to_offset(starts, text.size(), fix.place.line, fix.place.column, edit.begin) &&
               to_offset(starts, text.size(), fix.place.end_line, fix.place.end_column, edit.end) &&
               edit.begin <= edit.end;
      // Two fixes may need the same include.
      if (std::any_of(accepted.begin(), accepted.end(),
                      [&](const Edit& other) { return is_same(edit, other); }))
        continue;
      for (const Edit& other : accepted) usable = usable && !overlap(edit, other);
      edits.push_back(edit);
    }
    if (!usable) continue;
    accepted.insert(accepted.end(), edits.begin(), edits.end());
    applied.push_back(i);
  }
  std::sort(accepted.begin(), accepted.end(),
            [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string result;
  std::size_t copied = 0;
  for (const Edit& edit : accepted) {
    result.append(text, copied, edit.begin - copied);
    result += *edit.text;
    copied = edit.end;
  }
  return result.append(text, copied, std::string::npos);
}

FixOutcome apply_fixes(std::span<const Finding> findings) {
  FixOutcome outcome;
  outcome.fixed.assign(findings.size(), false);
  std::map<std::string, std::vector<std::size_t>> by_file;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!findings[i].fixes.empty()) by_file[findings[i].fixes.front().place.file].push_back(i);
  }
  for (const auto& [file, indices] : by_file) {
    std::vector<const Finding*> of_file;
    for (const std::size_t index : indices) of_file.push_back(&findings[index]);
    std::vector<std::size_t> applied;
    const std::string fixed = with_fixes(read_file(file), of_file, applied);
    if (applied.empty()) continue;
    if (!replace_file(file, fixed)) {
      outcome.failures.push_back("'" + file + "' cannot be written; nothing in it was changed");
      continue;
    }
    for (const std::size_t index : applied) outcome.fixed[indices[index]] = true;
  }
  return outcome;
}

}  // namespace devsan::lint
