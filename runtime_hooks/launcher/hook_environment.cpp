// LD_PRELOAD and DEVSAN_OPTIONS of the command.
#include "hook_environment.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace devsan {
namespace {

namespace fs = std::filesystem;

// The libraries that stand in for CUDA's: all in the folder but the simulator's own, which those
// open themselves. The CUDA runtime comes first: it is asked for the most.
std::vector<fs::path> stand_ins(const fs::path& folder) {
  std::vector<fs::path> libraries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with("libdevsan_"))
      libraries.push_back(entry.path());
  }
  if (libraries.empty()) {
    throw std::runtime_error(fmt::format(
        "{} has no libraries: this build was made without the simulator", folder.string()));
  }
  const auto order = [](const fs::path& library) {
    const std::string name = library.filename().string();
    return std::make_pair(!name.starts_with("libcudart."), name);
  };
  std::ranges::sort(libraries, {}, order);
  return libraries;
}

std::string preload_entry(const fs::path& library) {
  if (!fs::exists(library)) {
    throw std::runtime_error(
        fmt::format("{} is missing: build the project again (ci/build)", library.string()));
  }
  if (library.string().find_first_of(" :") != std::string::npos) {
    throw std::runtime_error(fmt::format(
        "'{}' has a space or a colon, which LD_PRELOAD cannot hold: build in another folder",
        library.string()));
  }
  return library.string();
}

}  // namespace

std::map<std::string, std::string> hook_environment(const fs::path& libraries,
                                                    const RunOptions& options) {
  std::vector<std::string> preload;
  if (options.trace_ops != 0) preload.push_back(preload_entry(libraries / "libdevsan_preload.so"));
  if (options.simulate > 0) {
    for (const fs::path& library : stand_ins(libraries / "simulator")) {
      preload.push_back(preload_entry(library));
    }
  }
  if (const char* own = std::getenv("LD_PRELOAD"); own != nullptr && *own != '\0') {
    preload.emplace_back(own);  // the user's keep their place behind ours
  }
  return {{"LD_PRELOAD", fmt::format("{}", fmt::join(preload, ":"))},
          {"DEVSAN_OPTIONS", format_run_options(options)}};
}

}  // namespace devsan
