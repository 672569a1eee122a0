// Reads `git diff --unified=0`, whose hunks are exactly the changed lines.
#include "changed_lines.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace devsan::lint {
namespace {

constexpr std::pair kAllLines{1, std::numeric_limits<int>::max()};

// What a git command prints; nothing when it fails.
std::optional<std::string> git(const std::vector<std::string>& arguments) {
  const auto program = llvm::sys::findProgramByName("git");
  if (!program) throw std::invalid_argument("--since: git is not installed");
  llvm::SmallString<128> output;
  if (llvm::sys::fs::createTemporaryFile("devsan-git", "txt", output)) {
    throw std::runtime_error("--since: cannot make a temporary file");
  }
  const llvm::FileRemover remover(output);
  std::vector<llvm::StringRef> words{*program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), output.str(),
                                                      llvm::StringRef("")};
  if (llvm::sys::ExecuteAndWait(*program, words, std::nullopt, redirects) != 0) {
    return std::nullopt;
  }
  const auto text = llvm::MemoryBuffer::getFile(output);
  return text ? std::optional((*text)->getBuffer().str()) : std::nullopt;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// `@@ -3,2 +5,4 @@`: lines 5 to 8 are new.
std::pair<int, int> added_lines(const std::string& header) {
  const std::size_t plus = header.find('+');
  int first = 0;
  int count = 1;
  char comma = 0;
  std::istringstream numbers(header.substr(plus + 1));
  numbers >> first;
  if (numbers.get(comma) && comma == ',') numbers >> count;
  // Where lines were only removed, what is left around them may be what changed its meaning.
  return count == 0 ? std::pair(first, first + 1) : std::pair(first, first + count - 1);
}

}  // namespace

ChangedLines::ChangedLines(const std::string& revision, const std::vector<std::string>& folders) {
  std::set<std::string> roots;
  for (const std::string& folder : folders) {
    const auto root = git({"-C", folder, "rev-parse", "--show-toplevel"});
    if (!root) {
      throw std::invalid_argument("--since: '" + folder + "' is in no git repository");
    }
    roots.insert(first_line(*root));
  }
  for (const std::string& root : roots) {
    const auto diff =
        git({"-C", root, "-c", "core.quotepath=off", "diff", "--unified=0", "--no-color",
             "--no-ext-diff", "--no-renames", "--dst-prefix=b/", revision, "--"});
    if (!diff) {
      throw std::invalid_argument("--since: '" + revision +
                                  "' is not a revision that git knows; accepted: a commit, a "
                                  "branch, a tag");
    }
    std::istringstream lines(*diff);
    std::string file;
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("+++ b/", 0) == 0) file = root + "/" + line.substr(6);
      if (line.rfind("@@ ", 0) == 0) hunks_[file].push_back(added_lines(line));
      // "Binary files a/model.pt and b/model.pt differ"
      const std::size_t name = line.rfind(" and b/");
      if (line.rfind("Binary files ", 0) == 0 && name != std::string::npos) {
        const std::size_t begin = name + 7;
        hunks_[root + "/" + line.substr(begin, line.rfind(" differ") - begin)].push_back(kAllLines);
      }
    }
    const auto fresh =
        git({"-C", root, "-c", "core.quotepath=off", "ls-files", "--others", "--exclude-standard"});
    std::istringstream names(fresh.value_or(""));
    for (std::string name; std::getline(names, name);) {
      hunks_[root + "/" + name].push_back(kAllLines);
    }
  }
}

bool ChangedLines::contains(const SourceRange& place) const {
  // What is in an archive, model.pt/code/..., changes with the archive.
  llvm::StringRef file = place.file;
  while (!file.empty() && !llvm::sys::fs::exists(file)) file = llvm::sys::path::parent_path(file);
  llvm::SmallString<256> real;
  const bool resolved = !llvm::sys::fs::real_path(file, real);
  const auto entry = hunks_.find(resolved ? real.str().str() : place.file);
  if (entry == hunks_.end()) return false;
  const int last = std::max(place.line, place.end_line);
  return std::any_of(entry->second.begin(), entry->second.end(), [&](const auto& hunk) {
    return place.line <= hunk.second && last >= hunk.first;
  });
}

bool ChangedLines::touches(const Finding& finding) const {
  return contains(finding.place) ||
         std::any_of(finding.path.begin(), finding.path.end(),
                     [this](const PathStep& step) { return contains(step.place); });
}

}  // namespace devsan::lint
