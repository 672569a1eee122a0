// Where LibTorch's headers are on this machine, found without running or importing anything of
// torch.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cuda_location.h"

namespace devsan::lint {

struct TorchLocation {
  std::filesystem::path include;  // holds torch/ and ATen/
  // All folders that torch's headers need, CUDA's aside, in order: its own, its C++ API's, those of
  // the nvidia wheels beside it, Python.h's.
  std::vector<std::string> system_folders;
  std::optional<CudaLocation> cuda;  // none where there are no CUDA headers, or not all of them
  int minor = 0;                     // of 2.x; 0 when it cannot be read
  std::string identity;              // changes when the headers do
};

// `given` is what --torch says, else empty. Throws std::invalid_argument with one line that says
// where was looked.
TorchLocation find_torch(const std::string& given);

// The location when `folder` is torch's include folder, a libtorch folder, a site-packages folder
// or a torch package; nothing otherwise.
std::optional<TorchLocation> torch_in(const std::filesystem::path& folder);

}  // namespace devsan::lint
