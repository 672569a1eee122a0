// `devsan COMMAND …`: finds who carries the command out.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>

#include "commands.h"

namespace devsan {
namespace {

constexpr int kWrongUse = 2;

constexpr const char* kHelp = R"(DevSan finds tensors on the wrong device in PyTorch programs.

  devsan lint FILES|FOLDERS        in C++ source, without running it
  devsan clangd [options]          while typing: clangd, with what lint finds
  devsan run [options] -- COMMAND  in a running program, on real GPUs or on simulated ones
  devsan explain [RULE]            what a rule finds, why, and what to do; all rules without one
  devsan report IN... [-o OUT]     merge and convert reports (.json in; .json, .sarif, .html or .txt out)
  devsan doctor                    what was found here, what will not work and why
  devsan --version

Example: devsan run --simulate 2 -- python train.py
`devsan COMMAND --help` says more.
)";

// Programs beside `devsan`, started in its place.
bool is_program(const std::string& command) {
  return command == "lint" || command == "run" || command == "clangd";
}

int start(const std::string& command, char** arguments) {
  const std::filesystem::path program = installation() / "bin" / ("devsan-" + command);
  arguments[0] = const_cast<char*>(program.c_str());
  execv(program.c_str(), arguments);
  throw std::runtime_error(fmt::format("{} cannot be started: {}; this build was made without it",
                                       program.string(), std::strerror(errno)));
}

int dispatch(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "--help";
  const std::vector<std::string> arguments(argv + std::min(argc, 2), argv + argc);
  if (is_program(command)) return start(command, argv + 1);
  if (command == "explain") return explain(arguments);
  if (command == "report") return report(arguments);
  if (command == "doctor") return doctor(arguments);
  if (command == "--help" || command == "-h" || command == "help") {
    std::cout << kHelp;
    return argc > 1 ? 0 : kWrongUse;
  }
  if (command == "--version") {
    std::cout << "devsan " DEVSAN_VERSION "\n";
    return 0;
  }
  throw std::invalid_argument(fmt::format(
      "'{}' is not a command; there are lint, clangd, run, explain, report, doctor and --version",
      command));
}

}  // namespace

std::filesystem::path installation() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

}  // namespace devsan

int main(int argc, char** argv) {
  try {
    return devsan::dispatch(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "devsan: " << error.what() << '\n';
    return devsan::kWrongUse;
  }
}
