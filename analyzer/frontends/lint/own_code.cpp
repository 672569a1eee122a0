// A file is a project's own when it lies below its folder and not in a vendored one.
#include "own_code.h"

#include <filesystem>

#include "source_files.h"

namespace devsan::lint {
namespace fs = std::filesystem;

OwnCode::OwnCode(const std::vector<std::string>& units, std::vector<std::string> roots)
    : units_(units.begin(), units.end()), roots_(std::move(roots)) {}

bool OwnCode::contains(const std::string& path) const {
  if (units_.count(path) > 0) return true;
  for (const std::string& root : roots_) {
    if (path.size() <= root.size() + 1 || path.compare(0, root.size(), root) != 0 ||
        path[root.size()] != '/') {
      continue;
    }
    bool foreign = false;
    for (const fs::path& part : fs::path(path.substr(root.size() + 1)).parent_path()) {
      foreign |= is_foreign_folder(part.string());
    }
    if (!foreign) return true;
  }
  return false;
}

std::string OwnCode::root_of(const std::string& path) const {
  std::string best;
  for (const std::string& root : roots_) {
    const bool below = path.compare(0, root.size(), root) == 0;
    if (below && root.size() > best.size()) best = root;
  }
  return best.empty() ? fs::path(path).parent_path().string() : best;
}

}  // namespace devsan::lint
