// `devsan doctor`: what is here of what DevSan works with, and what will not work for lack of it.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <regex>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.h"

namespace devsan {
namespace {

namespace fs = std::filesystem;

struct Line {
  std::string what;
  std::string found;    // empty: nothing
  std::string problem;  // what will not work, and what to do; empty when all is well
};

// What `command` prints, without the last line end; empty when it fails.
std::string output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 256> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  if (pclose(pipe) != 0) return {};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The minor releases of torch that this build has hooks for: {"2.11"}.
std::set<std::string> supported_releases() {
  static const std::regex kName(R"(libdevsan_observer_torch(\d+\.\d+)\.so)");
  std::set<std::string> releases;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(installation() / "lib", error)) {
    std::smatch match;
    const std::string name = entry.path().filename().string();
    if (std::regex_match(name, match, kName)) releases.insert(match[1]);
  }
  return releases;
}

Line hooks_line(const std::set<std::string>& releases) {
  if (releases.empty())
    return {"hooks", "", "devsan run cannot trace: this build was made without them"};
  return {"hooks", fmt::format("for torch {}", fmt::join(releases, ", ")), ""};
}

Line torch_line(const std::set<std::string>& releases) {
  const std::string text = output_of(
      "python3 -c 'import torch, sys; print(torch.__version__, torch.__file__.rsplit(\"/\", "
      "1)[0])'");
  if (text.empty()) {
    return {"torch", "",
            "no torch in python3: activate its environment to run Python programs (C++ "
            "programs bring their own LibTorch)"};
  }
  static const std::regex kMinor(R"(^(\d+\.\d+))");
  std::smatch match;
  if (std::regex_search(text, match, kMinor) && releases.count(match[1]) == 0) {
    return {"torch", text, fmt::format("devsan run supports torch {}", fmt::join(releases, ", "))};
  }
  return {"torch", text, ""};
}

Line gpu_line() {
  using Count = int (*)(int*);
  using Init = int (*)(unsigned);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  int count = 0;
  if (driver != nullptr) {
    const auto init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));
    const auto get_count = reinterpret_cast<Count>(dlsym(driver, "cuDeviceGetCount"));
    if (init == nullptr || get_count == nullptr || init(0) != 0 || get_count(&count) != 0)
      count = 0;
  }
  if (count == 0) return {"GPUs", "none", "real devices: none; devsan run --simulate N needs none"};
  return {"GPUs", fmt::format("{}", count), ""};
}

Line simulator_line() {
  if (!fs::exists(installation() / "lib" / "simulator" / "libcudart.so.13")) {
    return {"simulator", "", "devsan run --simulate does not work: this build was made without it"};
  }
  return {"simulator", "up to 64 devices", ""};
}

Line lint_line() {
  const fs::path lint = installation() / "bin" / "devsan-lint";
  if (!fs::exists(lint)) return {"lint", "", "this build was made without devsan lint"};
  const std::string version = output_of(lint.string() + " --version");
  if (version.empty())
    return {"lint", "", "devsan-lint does not start: are the libraries of LLVM here?"};
  return {"lint", version, ""};
}

// The clangd of this build, and the stock tools that take its plugin.
std::vector<Line> editor_lines() {
  std::vector<Line> lines;
  const fs::path clangd = installation() / "bin" / "devsan-clangd";
  if (!fs::exists(clangd)) {
    lines.push_back({"clangd", "", "this build was made without devsan clangd"});
  } else if (const std::string version = output_of(clangd.string() + " --version | head -1");
             version.empty()) {
    lines.push_back(
        {"clangd", "", "devsan-clangd does not start: are the libraries of LLVM here?"});
  } else {
    lines.push_back({"clangd", version + ", with the rules", ""});
  }
  const std::string major = DEVSAN_LLVM_MAJOR;
  if (!fs::exists(installation() / "lib" / "libDevsanTidy.so")) {
    lines.push_back({"clang-tidy", "", "this build was made without the plugin"});
  } else if (output_of("clang-tidy-" + major + " --version").empty()) {
    lines.push_back({"clang-tidy", "",
                     fmt::format("the plugin is for clang-tidy-{0}, which is not here: install "
                                 "clang-tidy-{0}, or use devsan lint alone",
                                 major)});
  } else {
    lines.push_back({"clang-tidy", "clang-tidy-" + major + " takes the plugin", ""});
  }
  return lines;
}

Line symbolizer_line() {
  const std::string version = output_of("addr2line --version | head -1");
  if (version.empty()) {
    return {"addr2line", "", "C++ frames will have no lines: install binutils"};
  }
  return {"addr2line", version, ""};
}

}  // namespace

int doctor(const std::vector<std::string>& arguments) {
  if (!arguments.empty()) {
    if (arguments[0] != "--help" && arguments[0] != "-h") {
      throw std::invalid_argument("doctor takes no arguments");
    }
    std::cout << "devsan doctor\n\nSays what was found here, what will not work and why.\n"
                 "Example: devsan doctor\n";
    return 0;
  }
  const std::set<std::string> releases = supported_releases();
  std::vector<Line> lines{hooks_line(releases), torch_line(releases), gpu_line(), simulator_line(),
                          lint_line()};
  for (Line& line : editor_lines()) lines.push_back(std::move(line));
  lines.push_back(symbolizer_line());
  for (const Line& line : lines) {
    std::cout << fmt::format("{:<10} {}\n", line.what, line.found.empty() ? "-" : line.found);
    if (!line.problem.empty()) std::cout << fmt::format("{:<10} ! {}\n", "", line.problem);
  }
  return 0;
}

}  // namespace devsan
