// Where CUDA's headers are: a toolkit's, or those of the nvidia wheels.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace devsan::lint {

struct CudaLocation {
  std::vector<std::string> folders;  // in order; thrust and cub are below one of them
  std::string version;               // "13.0"
};

// The location when `folders`, which are include folders, hold all that cuda_runtime.h includes.
// The runtime's wheel alone does not: crt/ is in another one.
std::optional<CudaLocation> cuda_in(const std::vector<std::string>& folders);

// CUDA_HOME and CUDA_PATH, then `wheels`, then, where neither of the two is set, the folders that
// toolkits are installed to.
std::optional<CudaLocation> find_cuda(const std::vector<std::string>& wheels);

// Declarations that CUDA code needs for its host side to be parsed where there are no CUDA headers:
// the keywords, kernel launches, and the runtime's calls that the rules know.
const char* cuda_stand_in();

}  // namespace devsan::lint
