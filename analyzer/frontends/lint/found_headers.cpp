// Asks the folders that have helped before, then the project's index.
#include "found_headers.h"

#include <algorithm>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "source_files.h"

namespace devsan::lint {

FoundHeaders::FoundHeaders(HeaderIndices& indices, std::string file)
    : indices_(indices), file_(std::move(file)), root_(project_root_of(file_).string()) {}

std::optional<std::string> FoundHeaders::look_for(const std::string& header) {
  const auto below = [&](const std::string& folder) {
    llvm::SmallString<256> path(folder + "/" + header);
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    return path.str().str();
  };
  for (const std::string& folder : folders_) {
    std::string path = below(folder);
    if (llvm::sys::fs::is_regular_file(path)) return path;
  }
  const auto folder = indices_.of(root_).folder_for(header, file_);
  if (!folder) return std::nullopt;
  folders_.push_back(*folder);
  return below(*folder);
}

std::optional<std::string> FoundHeaders::find(const std::string& header) {
  const auto known = std::find_if(answers_.begin(), answers_.end(),
                                  [&](const auto& answer) { return answer.first == header; });
  if (known != answers_.end()) {
    return known->second.empty() ? std::nullopt : std::optional(known->second);
  }
  const auto path = look_for(header);
  answers_.emplace_back(header, path.value_or(""));
  return path;
}

}  // namespace devsan::lint
