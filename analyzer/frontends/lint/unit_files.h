// The file system as one translation unit sees it: the real one, plus a folder in which the
// project's headers are found by name; and a record of all that was asked of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "found_headers.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace devsan::lint {

// What a parse depended on. While all of it stays as it was, the same parse gives the same.
struct FileRecord {
  std::map<std::string, std::uint64_t> read;  // path to the hash of the bytes that clang saw
  std::set<std::string> absent;               // were looked for; there, they might have been read
  FoundHeaders::Answers found;
};

std::uint64_t hash_of(llvm::StringRef bytes);

class UnitFiles : public llvm::vfs::ProxyFileSystem {
 public:
  // The last folder to look in for headers; it is nowhere else.
  static constexpr const char* kFoundFolder = "/devsan/found-in-the-project";

  // `found` may be null: then the flags are as they should be. `pch` is not recorded: it has a key
  // of its own.
  UnitFiles(FoundHeaders* found, std::string pch);

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;

  FileRecord record() const;

 private:
  std::string absolute(const llvm::Twine& path) const;
  bool is_recorded(llvm::StringRef path) const;
  void note_absent(const std::string& path, std::error_code why);

  FoundHeaders* found_;
  const std::string pch_;
  FileRecord record_;
};

}  // namespace devsan::lint
