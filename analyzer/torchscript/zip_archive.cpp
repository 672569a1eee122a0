// libzip, with its errors as exceptions.
#include "zip_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <stdexcept>

#include "printable.h"

namespace devsan::lint {
namespace {

// Code and pickles of the largest models are a few megabytes; weights are not read.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kMostEntries = std::size_t{1} << 20;

std::string text_of(int error) {
  zip_error_t holder;
  zip_error_init_with_code(&holder, error);
  std::string text = zip_error_strerror(&holder);
  zip_error_fini(&holder);
  return text;
}

}  // namespace

void ZipArchive::Close::operator()(zip* archive) const {
  zip_discard(archive);
}

ZipArchive::ZipArchive(const std::string& path) : bytes_left_(kMostBytes) {
  int error = 0;
  archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &error));
  if (archive_ == nullptr)
    throw std::runtime_error("cannot be read as a zip file: " + text_of(error));
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  if (count < 0 || static_cast<std::size_t>(count) > kMostEntries) {
    throw std::runtime_error(fmt::format("the archive has more than {} entries", kMostEntries));
  }
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (name != nullptr) names_.emplace_back(name);
  }
  std::sort(names_.begin(), names_.end());
}

bool ZipArchive::contains(const std::string& name) const {
  return std::binary_search(names_.begin(), names_.end(), name);
}

std::string ZipArchive::read(const std::string& name, std::size_t most) {
  const auto close = [](zip_file_t* file) { zip_fclose(file); };
  const std::unique_ptr<zip_file_t, decltype(close)> file(
      zip_fopen(archive_.get(), name.c_str(), ZIP_FL_ENC_RAW), close);
  if (file == nullptr) {
    throw std::runtime_error(
        fmt::format("cannot read '{}': {}", printable(name), zip_strerror(archive_.get())));
  }
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const zip_int64_t count = zip_fread(file.get(), buffer, sizeof(buffer));
    if (count < 0) {
      throw std::runtime_error(
          fmt::format("cannot read '{}': {}", printable(name), zip_file_strerror(file.get())));
    }
    if (count == 0) return content;
    const auto bytes = static_cast<std::size_t>(count);
    if (bytes > most - content.size() || bytes > bytes_left_) {
      throw std::runtime_error(
          fmt::format("'{}' is too large: at most {} MiB of it, and {} MiB of code and pickles in "
                      "all, are read",
                      printable(name), most >> 20, kMostBytes >> 20));
    }
    bytes_left_ -= bytes;
    content.append(buffer, bytes);
  }
}

}  // namespace devsan::lint
