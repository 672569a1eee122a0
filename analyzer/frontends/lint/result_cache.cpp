// Entries are small files; a unit's is found by a hash of its name.
#include "result_cache.h"

#include "cache_folder.h"
#include "clang/Basic/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include "whole_files.h"

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMissing = ~std::uint64_t{0};

std::uint64_t hash_of_file(const std::string& path) {
  const auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  return buffer ? hash_of((*buffer)->getBuffer()) : kMissing;
}

// Another build of this program may find other things.
const std::string& program_identity() {
  static const std::string identity = [] {
    static int anchor = 0;
    const std::string program = llvm::sys::fs::getMainExecutable("devsan-lint", &anchor);
    return clang::getClangFullVersion() + " " + std::to_string(hash_of_file(program));
  }();
  return identity;
}

std::string without_dots(llvm::StringRef path) {
  llvm::SmallString<256> clean = path;
  llvm::sys::path::remove_dots(clean, /*remove_dot_dot=*/true);
  return clean.str().str();
}

}  // namespace

ResultCache::ResultCache(fs::path folder, const OwnCode& own, HeaderIndices& indices)
    : folder_(std::move(folder)), own_(own), indices_(indices) {
  std::error_code error;
  if (!folder_.empty()) fs::create_directories(folder_, error);
}

std::string ResultCache::name_of(const std::string& file,
                                 const std::vector<std::string>& settings) const {
  std::string key = program_identity() + '\0' + file + '\0' + own_.root_of(file);
  for (const std::string& setting : settings) (key += '\0') += setting;
  const auto hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(llvm::StringRef(key)));
  return llvm::utohexstr(hash.high64, false, 16) + llvm::utohexstr(hash.low64, false, 16);
}

std::uint64_t ResultCache::content_hash(const std::string& path) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (const auto known = hashes_.find(path); known != hashes_.end()) return known->second;
  }
  const std::uint64_t hash = hash_of_file(path);
  const std::lock_guard<std::mutex> guard(mutex_);
  return hashes_.try_emplace(path, hash).first->second;
}

bool ResultCache::is_current(const StoredUnit& unit) {
  for (const auto& [path, hash] : unit.files.read) {
    const std::uint64_t now = content_hash(path);
    // One that was opened and not read need only be there.
    if (now == kMissing || (hash != 0 && now != hash)) return false;
    if (own_.contains(without_dots(path)) != (unit.own.count(path) > 0)) return false;
  }
  for (const std::string& path : unit.files.absent) {
    if (llvm::sys::fs::exists(path)) return false;
  }
  FoundHeaders again(indices_, unit.report.file);
  for (const auto& [header, path] : unit.files.found) {
    if (again.find(header).value_or("") != path) return false;
  }
  return true;
}

std::optional<UnitReport> ResultCache::find(const std::string& name) {
  if (folder_.empty()) return std::nullopt;
  const fs::path path = folder_ / name;
  auto unit = from_text(read_file(path));
  if (!unit || !is_current(*unit)) return std::nullopt;
  mark_used(path);
  return std::move(unit->report);
}

void ResultCache::store(const std::string& name, UnitReport report, FileRecord files) {
  if (folder_.empty()) return;
  StoredUnit unit{std::move(report), std::move(files), {}};
  for (const auto& [path, hash] : unit.files.read) {
    if (own_.contains(without_dots(path))) unit.own.insert(path);
  }
  const auto text = to_text(unit);
  // A full disk costs the entry, not the run.
  if (text && replace_file(folder_ / name, *text)) ++stored_;
}

}  // namespace devsan::lint
