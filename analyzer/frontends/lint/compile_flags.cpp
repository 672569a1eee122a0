// Normalised flags of a compile command, and flags for files that have none.
#include "compile_flags.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "nvcc_command.h"
#include "source_files.h"

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

constexpr const char* kOldestStandard = "gnu++17";  // what LibTorch's headers need

// -std=c++14 and -std=gnu++1z alike: dialects with GNU extensions accept what the strict ones do.
std::string standard_of(llvm::StringRef value) {
  value.consume_front("gnu");
  value.consume_front("c");
  if (value.starts_with("++2") && (value == "++2a" || value == "++20")) return "gnu++20";
  if (value == "++2b" || value == "++23") return "gnu++23";
  if (value == "++2c" || value == "++26") return "gnu++26";
  return kOldestStandard;
}

// Macros that LibTorch's own headers look at; the others are the file's business alone.
bool is_for_torch(llvm::StringRef define) {
  const llvm::StringRef name = define.split('=').first;
  for (const llvm::StringRef prefix :
       {"TORCH_", "C10_", "AT_", "ATEN_", "CAFFE2_", "USE_", "_GLIBCXX_", "__HIP", "CUDA_",
        "__CUDA", "THRUST_", "CUB_", "FMT_", "GLOG_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return name == "NDEBUG" || name == "STRIP_ERROR_MESSAGES";
}

std::string absolute(llvm::StringRef path, const std::string& folder) {
  const fs::path given(path.str());
  return (given.is_absolute() ? given : fs::path(folder) / given).lexically_normal().string();
}

// The value of an option that is written joined or as the next word; null when it is another
// option.
const char* const kPathOptions[] = {"-isystem", "-iquote", "-idirafter", "-include", "-I"};

void sort_uniquely(std::vector<std::string>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Names of the standard library: a folder that has such a file must not hide the real one.
bool shadows_standard_headers(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"string", "vector", "memory", "math.h", "string.h", "time.h", "types.h",
                           "stdlib.h", "version", "algorithm", "complex"}) {
    if (fs::is_regular_file(folder / name, error)) return true;
  }
  return false;
}

void add_folder(const fs::path& folder, FileFlags& flags) {
  flags.rest.push_back(shadows_standard_headers(folder) ? "-idirafter" : "-I");
  flags.rest.push_back(folder.string());
}

// Every folder called include, below `folder`, not too deep.
void find_include_folders(const fs::path& folder, int depth, std::vector<fs::path>& found) {
  constexpr int kDeepest = 6;
  constexpr std::size_t kMost = 64;
  std::error_code error;
  if (depth > kDeepest || found.size() >= kMost) return;
  std::vector<fs::path> below;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) below.push_back(entry.path());
  }
  std::sort(below.begin(), below.end());
  for (const fs::path& path : below) {
    const std::string name = path.filename().string();
    // Vendored code is looked into: its headers are needed, only its findings are not.
    if (name == "include") found.push_back(path);
    if (name.size() > 1 && name[0] == '.') continue;
    find_include_folders(path, depth + 1, found);
  }
}

// The standard that the project's build files speak of. C++17 is what most extensions are built
// with, and it parses faster: in C++20 the standard library is constexpr, and clang instantiates it
// to find out.
std::string inferred_standard(const fs::path& root, const TorchLocation& torch) {
  constexpr int kFirstWithCpp20 = 14;
  if (torch.minor >= kFirstWithCpp20) return "gnu++20";
  for (const char* name : {"CMakeLists.txt", "setup.py", "pyproject.toml", "meson.build"}) {
    const auto buffer = llvm::MemoryBuffer::getFile((root / name).string());
    if (!buffer) continue;
    const llvm::StringRef text = (*buffer)->getBuffer();
    if (text.contains("c++23") || text.contains("CXX_STANDARD 23")) return "gnu++23";
    for (const char* sign : {"c++20", "c++2a", "CXX_STANDARD 20", "cxx_std_20"}) {
      if (text.contains(sign)) return "gnu++20";
    }
  }
  return kOldestStandard;
}

}  // namespace

FileFlags normalise_flags(llvm::ArrayRef<std::string> command, const std::string& folder,
                          const TorchLocation& torch) {
  std::vector<std::string> translated;
  if (is_nvcc(command)) {
    TorchLocation with_toolkit = torch;
    const auto toolkit = toolkit_of_nvcc(command);
    if (auto cuda = toolkit ? cuda_in({*toolkit}) : std::nullopt) with_toolkit.cuda = *cuda;
    translated = from_nvcc(command, folder);
    return normalise_flags(translated, folder, with_toolkit);
  }
  FileFlags flags;
  flags.standard = kOldestStandard;
  flags.torch = torch;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const llvm::StringRef word = command[i];
    const auto value_of = [&](llvm::StringRef option) -> std::optional<llvm::StringRef> {
      if (!word.starts_with(option)) return std::nullopt;
      if (word.size() > option.size()) return word.drop_front(option.size());
      if (i + 1 < command.size()) return llvm::StringRef(command[++i]);
      return std::nullopt;
    };
    if (word.starts_with("-std=")) {
      flags.standard = standard_of(word.drop_front(5));
      continue;
    }
    if (word.starts_with("-D") || word.starts_with("-U")) {
      const std::string option = word.take_front(2).str();
      if (const auto value = value_of(option)) {
        (is_for_torch(*value) ? flags.defines : flags.rest).push_back(option + value->str());
      }
      continue;
    }
    if (word.starts_with("-x")) {
      const auto language = value_of("-x");
      if (language) flags.cuda = *language == "cu" || *language == "cuda";
      continue;
    }
    if (word == "-include-pch") {
      ++i;  // another compiler's
      continue;
    }
    for (const char* option : kPathOptions) {
      const auto value = value_of(option);
      if (!value) continue;
      const std::string path = absolute(*value, folder);
      if (const auto named = torch_in(path)) {
        // The torch that the project is built with, as system headers and by way of the PCH.
        if (named->include != flags.torch.include) {
          const std::optional<CudaLocation> cuda = flags.torch.cuda;
          flags.torch = *named;
          if (!flags.torch.cuda) flags.torch.cuda = cuda;
        }
      } else if (!llvm::StringRef(path).ends_with("torch/csrc/api/include")) {
        flags.rest.push_back(option);
        flags.rest.push_back(path);
      }
      break;
    }
  }
  sort_uniquely(flags.defines);
  return flags;
}

FileFlags infer_flags(const std::string& file, const std::string& project_root,
                      const TorchLocation& torch) {
  FileFlags flags;
  flags.standard = inferred_standard(project_root, torch);
  flags.torch = torch;
  flags.inferred = true;

  // Nearest first: the file's folder and those above it, then what is called include further away.
  std::vector<fs::path> folders;
  for (fs::path folder = fs::path(file).parent_path();; folder = folder.parent_path()) {
    folders.push_back(folder);
    for (const char* name : {"include", "src", "csrc"}) {
      std::error_code error;
      if (fs::is_directory(folder / name, error)) folders.push_back(folder / name);
    }
    if (folder == fs::path(project_root) || folder == folder.root_path()) break;
  }
  find_include_folders(project_root, 0, folders);

  std::set<fs::path> seen;
  for (const fs::path& folder : folders) {
    if (seen.insert(folder).second) add_folder(folder, flags);
  }
  return flags;
}

FlagSource::FlagSource(std::string build_folder, TorchLocation torch) : torch_(std::move(torch)) {
  if (build_folder.empty()) return;
  given_ = load(build_folder);
  if (given_ == nullptr) {
    throw std::invalid_argument("-p: no compile_commands.json that can be read in '" +
                                build_folder +
                                "'; accepted: a build folder made with "
                                "CMAKE_EXPORT_COMPILE_COMMANDS or the like");
  }
}

FlagSource::Database FlagSource::load(const std::string& folder) {
  const fs::path file = fs::path(folder) / "compile_commands.json";
  std::error_code missing;
  if (!fs::is_regular_file(file, missing)) return nullptr;
  std::string error;
  auto database = clang::tooling::JSONCompilationDatabase::loadFromFile(
      file.string(), error, clang::tooling::JSONCommandLineSyntax::AutoDetect);
  if (database == nullptr) return nullptr;
  return clang::tooling::inferMissingCompileCommands(
      clang::tooling::expandResponseFiles(std::move(database), llvm::vfs::getRealFileSystem()));
}

FlagSource::Database FlagSource::database_for(const std::string& file) {
  if (given_ != nullptr) return given_;
  const fs::path start = fs::path(file).parent_path();
  const auto known = by_folder_.find(start.string());
  if (known != by_folder_.end()) return known->second;
  // Not above the project: what is there describes other code.
  const fs::path root = project_root_of(file);
  Database database;
  for (fs::path folder = start; database == nullptr; folder = folder.parent_path()) {
    database = load(folder.string());
    if (database == nullptr) database = load((folder / "build").string());
    if (folder == root || folder == folder.root_path()) break;
  }
  by_folder_[start.string()] = database;
  return database;
}

FileFlags FlagSource::flags_for(const std::string& file) {
  if (const Database database = database_for(file)) {
    const auto commands = database->getCompileCommands(file);
    if (!commands.empty()) {
      FileFlags flags =
          normalise_flags(commands.front().CommandLine, commands.front().Directory, torch_);
      flags.cuda |= is_cuda(file);
      return flags;
    }
  }
  const auto [entry, is_new] = inferred_.try_emplace(fs::path(file).parent_path().string());
  if (is_new) entry->second = infer_flags(file, project_root_of(file).string(), torch_);
  FileFlags flags = entry->second;
  flags.cuda = is_cuda(file);  // a folder has files of both kinds
  return flags;
}

}  // namespace devsan::lint
