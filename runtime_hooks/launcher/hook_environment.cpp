// LD_PRELOAD and DEVSAN_OPTIONS of the command.
#include "hook_environment.h"

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace devsan {
namespace {

namespace fs = std::filesystem;

// The stand-ins for CUDA's libraries, in the order in which they are preloaded: each after those
// that it is linked with. The kernel redirect beside them is opened later, by the CUDA runtime.
constexpr const char* kSimulatorLibraries[] = {"libcudart.so.13", "libcuda.so.1",
                                               "libcublas.so.13", "libcublasLt.so.13",
                                               "libcudnn.so.9",   "libnccl.so.2"};

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
    for (const char* name : kSimulatorLibraries) {
      preload.push_back(preload_entry(libraries / "simulator" / name));
    }
  }
  if (const char* own = std::getenv("LD_PRELOAD"); own != nullptr && *own != '\0') {
    preload.emplace_back(own);  // the user's keep their place behind ours
  }
  return {{"LD_PRELOAD", fmt::format("{}", fmt::join(preload, ":"))},
          {"DEVSAN_OPTIONS", format_run_options(options)}};
}

}  // namespace devsan
