// Which files are the project's own: only there findings are made. Decided by path, since what
// clang calls a system header depends on flags that are often guessed.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace devsan::lint {

class OwnCode {
 public:
  // `units` are analysed by request, wherever they lie; `roots` are project folders.
  OwnCode(const std::vector<std::string>& units, std::vector<std::string> roots);

  // `path` is absolute and resolved.
  bool contains(const std::string& path) const;

  // The project folder that a file lies in, the file's own folder when there is none.
  std::string root_of(const std::string& path) const;

 private:
  std::set<std::string> units_;
  std::vector<std::string> roots_;
};

}  // namespace devsan::lint
