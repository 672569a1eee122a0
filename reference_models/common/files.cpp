// Where data is found, and whole files read and written.
#include "files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "usage_error.h"

namespace models {

namespace fs = std::filesystem;

fs::path find_data(std::string_view name) {
  const fs::path wanted = fs::path(".deps") / "data" / name;
  for (fs::path folder : {fs::current_path(), fs::read_symlink("/proc/self/exe").parent_path()}) {
    for (; folder != folder.root_path(); folder = folder.parent_path()) {
      if (fs::exists(folder / wanted)) return folder / wanted;
    }
  }
  throw UsageError("no data: give --data FILE, or run ci/setup, which puts " + wanted.string());
}

void check_can_write(const fs::path& file) {
  const fs::path folder = fs::absolute(file).parent_path();
  if (fs::is_directory(file) || access(folder.c_str(), W_OK) != 0) {
    throw UsageError(fmt::format("--checkpoint {}: not a file that can be written", file.string()));
  }
}

std::vector<char> read_file(const fs::path& path, std::string_view kind) {
  std::ifstream file(path, std::ios::binary);
  if (!file || !fs::is_regular_file(path)) {
    throw UsageError(
        fmt::format("{}: no such {}, or not one that can be read", path.string(), kind));
  }
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

void write_file(const fs::path& path, std::string_view kind, const std::vector<char>& bytes) {
  fs::path partial = path;
  partial += ".partial";
  std::ofstream file(partial, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) {
    fs::rename(partial, path, error);
  } else {
    error = std::make_error_code(std::errc::io_error);
  }
  if (error) {
    throw UsageError(
        fmt::format("{}: the {} cannot be written: {}", path.string(), kind, error.message()));
  }
}

}  // namespace models
