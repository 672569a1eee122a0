// A project's files by name.
#include "header_index.h"

#include <algorithm>
#include <filesystem>

#include "llvm/ADT/StringRef.h"

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

std::size_t common_prefix(const std::string& a, const std::string& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

}  // namespace

HeaderIndex::HeaderIndex(const std::string& project_root) {
  constexpr std::size_t kMost = 100000;  // of a project; a home folder given by mistake ends here
  std::size_t seen = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(project_root, fs::directory_options::skip_permission_denied,
                                      error);
  for (; at != fs::recursive_directory_iterator() && seen < kMost; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_directory(error)) {
      if (!name.empty() && name[0] == '.') at.disable_recursion_pending();
      continue;
    }
    ++seen;
    // Any file: headers are also called .inc, .cuh, or nothing at all.
    by_name_[name].push_back(at->path().string());
  }
}

std::optional<std::string> HeaderIndex::folder_for(const std::string& header,
                                                   const std::string& from_file) const {
  const auto named = by_name_.find(fs::path(header).filename().string());
  if (named == by_name_.end()) return std::nullopt;
  const std::string ending = "/" + header;
  const std::string* best = nullptr;
  for (const std::string& path : named->second) {
    if (!llvm::StringRef(path).ends_with(ending)) continue;
    const auto rank = [&](const std::string& candidate) {
      return std::pair(common_prefix(candidate, from_file), std::size_t{0} - candidate.size());
    };
    if (best == nullptr || rank(path) > rank(*best) ||
        (rank(path) == rank(*best) && path < *best)) {
      best = &path;
    }
  }
  if (best == nullptr) return std::nullopt;
  return best->substr(0, best->size() - ending.size());
}

const HeaderIndex& HeaderIndices::of(const std::string& project_root) {
  const std::lock_guard<std::mutex> guard(mutex_);
  return by_root_.try_emplace(project_root, project_root).first->second;
}

}  // namespace devsan::lint
