// Wraps what clang opens, to see the very bytes that it gets.
#include "unit_files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

namespace devsan::lint {
namespace vfs = llvm::vfs;
namespace {

// The header's name when a path lies in the folder of found headers; empty otherwise.
llvm::StringRef name_in_found_folder(llvm::StringRef path) {
  return path.consume_front(UnitFiles::kFoundFolder) ? path.ltrim('/') : llvm::StringRef();
}

// clang is to call the file by the path that it really has.
vfs::Status with_real_name(const vfs::Status& status, const llvm::Twine& path) {
  vfs::Status real = vfs::Status::copyWithNewName(status, path);
  real.ExposesExternalVFSPath = true;
  return real;
}

vfs::Status folder_status(const llvm::Twine& path) {
  return {path,
          vfs::getNextVirtualUniqueID(),
          {},
          0,
          0,
          0,
          llvm::sys::fs::file_type::directory_file,
          llvm::sys::fs::all_read};
}

class RecordedFile : public vfs::File {
 public:
  // `hash` may be null; `real_path` is empty when the file is called as it was asked for.
  RecordedFile(std::unique_ptr<vfs::File> file, std::uint64_t* hash, std::string real_path)
      : file_(std::move(file)), hash_(hash), real_path_(std::move(real_path)) {}

  llvm::ErrorOr<vfs::Status> status() override {
    auto status = file_->status();
    if (!status || real_path_.empty()) return status;
    return with_real_name(*status, real_path_);
  }
  llvm::ErrorOr<std::string> getName() override { return file_->getName(); }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name,
                                                               std::int64_t size,
                                                               bool null_terminated,
                                                               bool is_volatile) override {
    auto buffer = file_->getBuffer(name, size, null_terminated, is_volatile);
    if (buffer && hash_ != nullptr) *hash_ = hash_of((*buffer)->getBuffer());
    return buffer;
  }
  std::error_code close() override { return file_->close(); }

 private:
  std::unique_ptr<vfs::File> file_;
  std::uint64_t* hash_;
  const std::string real_path_;
};

}  // namespace

std::uint64_t hash_of(llvm::StringRef bytes) {
  return llvm::xxh3_64bits(llvm::arrayRefFromStringRef(bytes));
}

UnitFiles::UnitFiles(FoundHeaders* found, std::string pch)
    : ProxyFileSystem(vfs::createPhysicalFileSystem()), found_(found), pch_(std::move(pch)) {}

std::string UnitFiles::absolute(const llvm::Twine& path) const {
  llvm::SmallString<256> full;
  path.toVector(full);
  if (!llvm::sys::path::is_absolute(full)) (void)makeAbsolute(full);
  return full.str().str();
}

bool UnitFiles::is_recorded(llvm::StringRef path) const {
  return pch_.empty() || !path.starts_with(llvm::StringRef(pch_).rsplit('.').first);
}

void UnitFiles::note_absent(const std::string& path, std::error_code why) {
  if (why == std::errc::no_such_file_or_directory && is_recorded(path)) record_.absent.insert(path);
}

llvm::ErrorOr<vfs::Status> UnitFiles::status(const llvm::Twine& path) {
  const std::string full = absolute(path);
  if (found_ != nullptr && llvm::StringRef(full).starts_with(kFoundFolder)) {
    const llvm::StringRef name = name_in_found_folder(full);
    // Folders are asked for too, and any may be a header's.
    const auto real = llvm::sys::path::has_extension(name) ? found_->find(name.str())
                                                           : std::optional<std::string>();
    if (!real) return folder_status(path);
    const auto status = getUnderlyingFS().status(*real);
    if (!status) return status;
    return with_real_name(*status, *real);
  }
  auto status = getUnderlyingFS().status(path);
  if (!status) note_absent(full, status.getError());
  return status;
}

llvm::ErrorOr<std::unique_ptr<vfs::File>> UnitFiles::openFileForRead(const llvm::Twine& path) {
  std::string full = absolute(path);
  std::string real_path;
  if (found_ != nullptr && llvm::StringRef(full).starts_with(kFoundFolder)) {
    const auto real = found_->find(name_in_found_folder(full).str());
    if (!real) return std::make_error_code(std::errc::no_such_file_or_directory);
    full = real_path = *real;
  }
  auto file = getUnderlyingFS().openFileForRead(full);
  if (!file) {
    note_absent(full, file.getError());
    return file.getError();
  }
  // A file that is opened and skipped, by its include guard, counts too: as empty.
  std::uint64_t* hash = is_recorded(full) ? &record_.read[full] : nullptr;
  return std::make_unique<RecordedFile>(std::move(*file), hash, real_path);
}

FileRecord UnitFiles::record() const {
  FileRecord record = record_;
  if (found_ != nullptr) record.found = found_->answers();
  return record;
}

}  // namespace devsan::lint
