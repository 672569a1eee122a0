// The headers of a project by name, to find the folder from which `#include "a/b.h"` would work.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace devsan::lint {

class HeaderIndex {
 public:
  // Walks the project once; folders whose name begins with a dot are left out.
  explicit HeaderIndex(const std::string& project_root);

  // The folder below which a header lies under the name it is included by. Of several the one
  // nearest to `from_file`; nothing when there is none.
  std::optional<std::string> folder_for(const std::string& header,
                                        const std::string& from_file) const;

 private:
  std::unordered_map<std::string, std::vector<std::string>> by_name_;  // file name to full paths
};

// The index of each project, made when it is first asked for. Thread-safe.
class HeaderIndices {
 public:
  const HeaderIndex& of(const std::string& project_root);

 private:
  std::mutex mutex_;
  std::map<std::string, HeaderIndex> by_root_;
};

}  // namespace devsan::lint
