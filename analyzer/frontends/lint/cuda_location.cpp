// Looks where toolkits and wheels put CUDA's headers, and knows what makes them whole.
#include "cuda_location.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

// Of the folders the first that has `header`; null when none has.
const std::string* folder_with(const std::vector<std::string>& folders, const char* header) {
  std::error_code error;
  for (const std::string& folder : folders) {
    if (fs::is_regular_file(fs::path(folder) / header, error)) return &folder;
  }
  return nullptr;
}

// cuda.h says `#define CUDA_VERSION 12090`.
std::string version_in(const fs::path& header) {
  std::ifstream in(header);
  for (std::string word; in >> word;) {
    int number = 0;
    if (word != "CUDA_VERSION" || !(in >> number)) continue;
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  }
  return {};
}

}  // namespace

std::optional<CudaLocation> cuda_in(const std::vector<std::string>& folders) {
  const std::string* runtime = folder_with(folders, "cuda_runtime.h");
  if (runtime == nullptr || folder_with(folders, "crt/host_defines.h") == nullptr) {
    return std::nullopt;
  }
  CudaLocation cuda;
  cuda.version = version_in(fs::path(*runtime) / "cuda.h");
  if (cuda.version.empty()) return std::nullopt;
  for (const std::string& folder : folders) {
    cuda.folders.push_back(folder);
    // Since CUDA 13 thrust and cub are in a folder of their own.
    const fs::path cccl = fs::path(folder) / "cccl";
    std::error_code error;
    if (fs::is_directory(cccl, error)) cuda.folders.push_back(cccl.string());
  }
  return cuda;
}

std::optional<CudaLocation> find_cuda(const std::vector<std::string>& wheels) {
  std::vector<std::string> named;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* root = std::getenv(variable);
    if (root != nullptr && *root != '\0') named.push_back((fs::path(root) / "include").string());
  }
  for (const std::string& folder : named) {
    if (auto cuda = cuda_in({folder})) return cuda;
  }
  if (auto cuda = cuda_in(wheels)) return cuda;
  if (!named.empty()) return std::nullopt;
  for (const char* folder : {"/usr/local/cuda/include", "/usr/include"}) {
    if (auto cuda = cuda_in({folder})) return cuda;
  }
  return std::nullopt;
}

}  // namespace devsan::lint
