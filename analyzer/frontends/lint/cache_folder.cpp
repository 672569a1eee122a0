// Use is recorded as the time of the last change, which is there on every file system.
#include "cache_folder.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::minutes kInUse{10};

struct Entry {
  fs::file_time_type used = fs::file_time_type::min();
  std::uint64_t size = 0;
  std::vector<fs::path> files;
};

// Returns their size.
std::uint64_t add_entries(const fs::path& folder, std::map<std::string, Entry>& by_name) {
  std::uint64_t total = 0;
  std::error_code error;
  // Other runs may remove what is listed here: what is gone has no size and no time.
  for (fs::directory_iterator at(folder, error), end; at != end; at.increment(error)) {
    if (error || !at->is_regular_file(error)) continue;
    const std::uint64_t size = at->file_size(error);
    if (error) continue;
    const fs::file_time_type used = at->last_write_time(error);
    if (error) continue;
    Entry& entry = by_name[fs::path(at->path()).replace_extension().string()];
    entry.used = std::max(entry.used, used);
    entry.size += size;
    entry.files.push_back(at->path());
    total += size;
  }
  return total;
}

}  // namespace

fs::path user_cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') {
    return fs::path(xdg) / "devsan";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache" / "devsan";
  }
  return {};
}

void mark_used(const fs::path& file) {
  std::error_code error;
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);
}

void prune_cache(const fs::path& folder, std::uint64_t limit) {
  std::map<std::string, Entry> by_name;
  std::uint64_t total = 0;
  for (const char* own : {kHeadersFolder, kResultsFolder}) {
    total += add_entries(folder / own, by_name);
  }
  std::vector<const Entry*> oldest_first;
  for (const auto& [name, entry] : by_name) oldest_first.push_back(&entry);
  std::sort(oldest_first.begin(), oldest_first.end(),
            [](const Entry* a, const Entry* b) { return a->used < b->used; });
  std::error_code error;
  const fs::file_time_type in_use = fs::file_time_type::clock::now() - kInUse;
  for (const Entry* entry : oldest_first) {
    if (total <= limit || entry->used > in_use) return;
    for (const fs::path& file : entry->files) fs::remove(file, error);
    total -= entry->size;
  }
}

}  // namespace devsan::lint
