// What a unit gave, kept on disk and taken again while nothing that it depended on has changed.
//
// An entry is named by what is known before a parse: the file, its flags, its PCH, the rules, this
// program. What only the parse finds out is checked when the entry is read: the content of every
// file that was read, the absence of every file that was looked for in vain, the headers found in
// the project, and which files are the project's own. Whatever is wrong with an entry, the file is
// parsed.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "own_code.h"
#include "unit_text.h"

namespace devsan::lint {

class ResultCache {
 public:
  // An empty `folder`: nothing is kept. `own` and `indices` must outlive this.
  ResultCache(std::filesystem::path folder, const OwnCode& own, HeaderIndices& indices);

  // The name of a unit's entry. `settings` is all that decides the result beside the files: flags,
  // rules, and what an analysis was told of functions in other files.
  std::string name_of(const std::string& file, const std::vector<std::string>& settings) const;

  // Thread-safe, and safe beside other processes: an entry is replaced whole.
  std::optional<UnitReport> find(const std::string& name);
  void store(const std::string& name, UnitReport report, FileRecord files);

  int stored() const { return stored_; }

 private:
  bool is_current(const StoredUnit& unit);
  std::uint64_t content_hash(const std::string& path);

  const std::filesystem::path folder_;
  const OwnCode& own_;
  HeaderIndices& indices_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> hashes_;  // of files as they are in this run
  std::atomic<int> stored_{0};
};

}  // namespace devsan::lint
