// The lines that changed since a git revision.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan::lint {

class ChangedLines {
 public:
  // Of the repositories that `folders` lie in, uncommitted changes and new files included. Throws
  // std::invalid_argument with one line when git is missing, a folder is in no repository, or the
  // revision is not known.
  ChangedLines(const std::string& revision, const std::vector<std::string>& folders);

  // A line of the finding, or of the path that led to it, changed.
  bool touches(const Finding& finding) const;

 private:
  bool contains(const SourceRange& place) const;

  // By absolute path: first and last line of each hunk. A whole new file is one that never ends.
  std::map<std::string, std::vector<std::pair<int, int>>> hunks_;
};

}  // namespace devsan::lint
