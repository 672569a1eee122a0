// Looks where wheels, virtual environments and libtorch archives put the headers.
#include "torch_location.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "source_files.h"

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A number that stands after `#define NAME ` in torch/version.h.
int version_part(const std::string& text, const std::string& name) {
  const std::string define = "#define " + name + " ";
  const std::size_t at = text.find(define);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + define.size());
}

// Include folders of the nvidia wheels that are installed beside torch.
std::vector<std::string> wheel_folders(const fs::path& site_packages) {
  std::error_code error;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(site_packages / "nvidia", error)) {
    if (is_folder(entry.path() / "include")) found.push_back((entry.path() / "include").string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Python.h of the interpreter whose site-packages these are: lib/python3.11/site-packages names it.
void add_python_folder(const fs::path& site_packages, std::vector<std::string>& folders) {
  const fs::path library = site_packages.parent_path();
  const std::string name = library.filename().string();
  if (name.rfind("python3", 0) != 0) return;
  const fs::path environment_root = library.parent_path().parent_path();
  std::vector<fs::path> candidates{environment_root / "include" / name};
  std::ifstream configuration(environment_root / "pyvenv.cfg");
  for (std::string line; std::getline(configuration, line);) {
    std::istringstream words(line);
    std::string key, equals, value;
    if (words >> key >> equals >> value && key == "home") {
      candidates.push_back(fs::path(value).parent_path() / "include" / name);
    }
  }
  for (const fs::path& candidate : candidates) {
    if (is_file(candidate / "Python.h")) {
      folders.push_back(candidate.string());
      return;
    }
  }
}

TorchLocation describe(const fs::path& include) {
  TorchLocation location;
  std::error_code error;
  location.include = fs::canonical(include, error);
  location.system_folders = {location.include.string(),
                             (location.include / "torch/csrc/api/include").string()};
  // torch/version.h moved to torch/headeronly/version.h; the old one then only includes the new
  // one.
  std::string version;
  for (const char* header : {"torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h",
                             "torch/version.h"}) {
    const fs::path file = location.include / header;
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    version += text.str();
    llvm::sys::fs::file_status status;
    if (!llvm::sys::fs::status(file.string(), status)) {
      version += std::to_string(status.getLastModificationTime().time_since_epoch().count());
    }
  }
  location.minor = version_part(version, "TORCH_VERSION_MINOR");
  location.identity = location.include.string() + "\n" + version;
  // site-packages/torch/include
  const fs::path site_packages = location.include.parent_path().parent_path();
  std::vector<std::string> wheels = wheel_folders(site_packages);
  location.cuda = find_cuda(wheels);
  if (!location.cuda) {
    // A header that breaks is worse than one that is not there.
    std::erase_if(wheels, [](const std::string& folder) {
      return is_file(fs::path(folder) / "cuda_runtime_api.h");
    });
  }
  location.system_folders.insert(location.system_folders.end(), wheels.begin(), wheels.end());
  add_python_folder(site_packages, location.system_folders);
  return location;
}

std::optional<TorchLocation> in_environment(const fs::path& root) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "lib", error)) {
    if (entry.path().filename().string().rfind("python3", 0) != 0) continue;
    if (auto torch = torch_in(entry.path() / "site-packages")) return torch;
  }
  return std::nullopt;
}

// Asks the `python3` on PATH where its packages are; torch itself is not imported.
std::optional<TorchLocation> in_python_on_path() {
  const auto python = llvm::sys::findProgramByName("python3");
  if (!python) return std::nullopt;
  llvm::SmallString<128> answer;
  if (llvm::sys::fs::createTemporaryFile("devsan-python", "txt", answer)) return std::nullopt;
  const llvm::StringRef arguments[] = {*python, "-c",
                                       "import sysconfig; print(sysconfig.get_paths()['platlib'])"};
  const std::optional<llvm::StringRef> streams[] = {llvm::StringRef(""), answer.str(),
                                                    llvm::StringRef("")};
  constexpr unsigned kSeconds = 10;
  const int code = llvm::sys::ExecuteAndWait(*python, arguments, std::nullopt, streams, kSeconds);
  std::optional<TorchLocation> torch;
  if (code == 0) {
    if (auto text = llvm::MemoryBuffer::getFile(answer)) {
      torch = torch_in((*text)->getBuffer().trim().str());
    }
  }
  llvm::sys::fs::remove(answer);
  return torch;
}

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

}  // namespace

std::optional<TorchLocation> torch_in(const fs::path& folder) {
  for (const char* below : {"", "include", "torch/include"}) {
    const fs::path include = folder / below;
    if (is_file(include / "ATen/ATen.h") && is_folder(include / "torch/csrc/api/include")) {
      return describe(include);
    }
  }
  return std::nullopt;
}

TorchLocation find_torch(const std::string& given) {
  if (!given.empty()) {
    if (auto torch = torch_in(given)) return *torch;
    throw std::invalid_argument("--torch: no LibTorch headers in '" + given +
                                "'; accepted: a libtorch folder, a torch package or the "
                                "site-packages that holds it");
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string root = environment(variable);
    if (root.empty()) continue;
    if (auto torch = in_environment(root)) return *torch;
  }
  for (const std::string& prefix : split(environment("CMAKE_PREFIX_PATH"), ':')) {
    if (auto torch = torch_in(prefix)) return *torch;
    // `torch.utils.cmake_prefix_path` is torch/share/cmake.
    if (auto torch = torch_in(fs::path(prefix).parent_path().parent_path())) return *torch;
  }
  if (const std::string root = environment("LIBTORCH"); !root.empty()) {
    if (auto torch = torch_in(root)) return *torch;
  }
  for (fs::path folder = absolute_path("."); !folder.empty(); folder = folder.parent_path()) {
    for (const char* name : {".deps/venv", ".venv", "venv"}) {
      if (auto torch = in_environment(folder / name)) return *torch;
    }
    if (folder == folder.root_path()) break;
  }
  if (auto torch = in_python_on_path()) return *torch;
  throw std::invalid_argument(
      "no LibTorch headers found (looked in the active Python environment, CMAKE_PREFIX_PATH, "
      "LIBTORCH, .deps/venv and python3's packages); name their folder with --torch DIR");
}

}  // namespace devsan::lint
