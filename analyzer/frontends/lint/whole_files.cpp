// Replacing is a rename, which is one step for everybody else.
#include "whole_files.h"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>

#include "interrupt.h"

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

// The superuser may write where nobody should.
constexpr fs::perms kAnyWrite =
    fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;

bool write(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.flush();
  return static_cast<bool>(out);
}

// Of no other thread or process.
fs::path name_beside(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  return path.string() + ".devsan." + std::to_string(::getpid()) + "." + std::to_string(count++);
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool replace_file(const fs::path& given, std::string_view text) {
  std::error_code error;
  const fs::path real = fs::canonical(given, error);
  const fs::path path = error ? given : real;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write(path, text);

  const bool read_only =
      fs::exists(status) &&
      ((status.permissions() & kAnyWrite) == fs::perms::none || ::access(path.c_str(), W_OK) != 0);
  if (read_only) return false;
  const Uninterrupted guard;
  const fs::path temporary = name_beside(path);
  bool done = write(temporary, text);
  if (done && fs::exists(status)) fs::permissions(temporary, status.permissions(), error);
  if (done) {
    fs::rename(temporary, path, error);
    done = !error;
  }
  if (!done) fs::remove(temporary, error);
  return done;
}

}  // namespace devsan::lint
