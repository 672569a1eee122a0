// Files by their endings, projects by their markers.
#include "source_files.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "placement/clang_compat.h"
#include "torchscript/script_archive.h"

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

enum class Kind { kUnit, kHeader, kOther };

Kind kind_of(const fs::path& path) {
  return StringSwitch<Kind>(path.extension().string())
      .Cases({".cpp", ".cc", ".cxx", ".c++", ".C", ".cu"}, Kind::kUnit)
      .Cases({".h", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".ipp", ".cuh"}, Kind::kHeader)
      .Default(Kind::kOther);
}

void walk_folder(const fs::path& folder, SourceFiles& files) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry);
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.path() < b.path(); });
  for (const fs::directory_entry& entry : entries) {
    const fs::path& path = entry.path();
    if (entry.is_directory(error)) {
      // A link to a folder above would never end.
      if (!entry.is_symlink(error) && !is_foreign_folder(path.filename().string())) {
        walk_folder(path, files);
      }
      continue;
    }
    // Links that lead nowhere, and pipes, which would be waited for.
    if (!entry.is_regular_file(error)) continue;
    switch (kind_of(path)) {
      case Kind::kUnit:
        files.units.push_back(path.string());
        break;
      case Kind::kHeader:
        files.headers.push_back(path.string());
        break;
      case Kind::kOther:
        break;
    }
  }
}

void drop_repeated(std::vector<std::string>& paths) {
  std::set<std::string> seen;
  std::erase_if(paths, [&](const std::string& path) { return !seen.insert(path).second; });
}

}  // namespace

std::string absolute_path(const std::string& path) {
  llvm::SmallString<256> absolute(path);
  llvm::sys::fs::make_absolute(absolute);
  llvm::sys::path::remove_dots(absolute, /*remove_dot_dot=*/true);
  const llvm::StringRef text = absolute.str();
  return (text.size() > 1 ? text.rtrim('/') : text).str();
}

bool is_header(const fs::path& path) {
  return kind_of(path) == Kind::kHeader;
}

bool is_cuda(const fs::path& path) {
  return path.extension() == ".cu" || path.extension() == ".cuh";
}

bool is_foreign_folder(const std::string& name) {
  if (name.size() > 1 && name[0] == '.') return true;
  return StringSwitch<bool>(name)
      .Cases({"third_party", "third-party", "thirdparty", "3rdparty"}, true)
      .Cases({"external", "extern", "vendor", "vendored", "_deps", "node_modules"}, true)
      .Cases({"build", "site-packages", "CMakeFiles"}, true)
      .Default(llvm::StringRef(name).starts_with("cmake-build-"));
}

fs::path project_root_of(const fs::path& path) {
  std::error_code error;
  const fs::path start = fs::is_directory(path, error) ? path : path.parent_path();
  fs::path with_build_file;
  for (fs::path folder = start;; folder = folder.parent_path()) {
    for (const char* marker : {".git", "setup.py", "pyproject.toml", "WORKSPACE"}) {
      if (fs::exists(folder / marker, error)) return folder;
    }
    // CMake has a file in every folder: the outermost one counts.
    if (fs::exists(folder / "CMakeLists.txt", error)) with_build_file = folder;
    if (folder == folder.root_path() || folder.empty()) break;
  }
  return with_build_file.empty() ? start : with_build_file;
}

SourceFiles collect_files(const std::vector<std::string>& paths) {
  SourceFiles files;
  for (const std::string& given : paths) {
    std::error_code error;
    const fs::path path = absolute_path(given);
    if (!fs::exists(path, error)) throw std::invalid_argument("'" + given + "' does not exist");
    files.roots.push_back(project_root_of(path).string());
    if (fs::is_directory(path)) {
      walk_folder(path, files);
      continue;
    }
    if (!fs::is_regular_file(path, error)) {
      throw std::invalid_argument("'" + given + "' is neither a file nor a folder");
    }
    if (is_script_archive_path(path.string())) {
      files.archives.push_back(path.string());
      continue;
    }
    switch (kind_of(path)) {
      case Kind::kUnit:
      case Kind::kHeader:
        files.units.push_back(path.string());
        break;
      case Kind::kOther:
        throw std::invalid_argument(
            "'" + given +
            "' is not C++; accepted: .cpp .cc .cxx .c++ .C .cu, headers, folders, and TorchScript "
            "archives (.pt .pth .ptl .ts .torchscript .jit)");
    }
  }
  drop_repeated(files.units);
  drop_repeated(files.headers);
  drop_repeated(files.archives);
  drop_repeated(files.roots);
  std::erase_if(files.headers, [&](const std::string& header) {
    return std::find(files.units.begin(), files.units.end(), header) != files.units.end();
  });
  if (files.units.empty() && files.headers.empty() && files.archives.empty()) {
    throw std::invalid_argument("no C++ files in what was given");
  }
  return files;
}

}  // namespace devsan::lint
