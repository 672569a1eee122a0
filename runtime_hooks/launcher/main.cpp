// `devsan run [options] -- COMMAND…`: the command line, the run, and what is said at its end.
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "child_process.h"
#include "devsan/findings/writers.h"
#include "devsan/run_options.h"
#include "hook_environment.h"
#include "merged_report.h"

namespace devsan {
namespace {

namespace fs = std::filesystem;

constexpr int kWrongUse = 2;
constexpr std::size_t kShownWarnings = 5;
// For processes that outlive the command: longer than a launcher gives its ranks between SIGTERM
// and SIGKILL would only serve those that are meant to stay.
constexpr std::chrono::seconds kPatience(5);

struct CommandLine {
  RunOptions options;
  std::vector<std::string> report_files;
  int exit_code = 66;
  bool full_stacks = false;
  std::vector<std::string> command;
};

class UsageFormatter : public CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "\ndevsan run [options] -- COMMAND...\n";
  }
};

// Set by the launcher itself, not by who types.
bool is_internal(std::string_view option) {
  return option == "report_dir";
}

std::string dashed(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

void check_report_file(const std::string& path) {
  format_of_file(path);
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (access(folder.c_str(), W_OK) != 0) {
    throw std::invalid_argument(fmt::format("report file '{}': there is no folder '{}' to write to",
                                            path, folder.string()));
  }
}

// Nothing when help was asked for, and printed. Throws CLI::Error for what CLI11 finds,
// std::invalid_argument for the rest.
std::optional<CommandLine> parse(int argc, char** argv) {
  CommandLine line;
  line.options = run_options_from_environment();

  CLI::App app(
      "Run a program and report the first tensor op whose arguments are on different devices.",
      "devsan run");
  app.formatter(std::make_shared<UsageFormatter>());
  app.footer(
      "Example: devsan run --simulate 2 --report mismatch.sarif -- python train.py\n"
      "Exit: the command's own code; --exit-code when it returned 0 and an error was found.");
  for (const RunOptionInfo& info : run_option_infos()) {
    if (is_internal(info.name)) continue;
    app.add_option_function<std::string>(
           "--" + dashed(info.name),
           [&line, name = info.name](const std::string& value) {
             set_run_option(line.options, name, value);
           },
           std::string(info.help))
        ->type_name(std::string(info.values));
  }
  app.add_option(
         "--report", line.report_files,
         "write the findings to FILE: .json, .sarif, .html or .txt, by its ending; repeatable")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--exit-code", line.exit_code,
                 "when an error was found and the command itself returned 0 (default 66)")
      ->type_name("N")
      ->check(CLI::Range(0, 255));
  app.add_flag("--full-stacks", line.full_stacks, "show every frame of every stack");

  char** const end = argv + argc;
  char** const separator = std::find(argv, end, std::string_view("--"));
  try {
    app.parse(static_cast<int>(separator - argv), argv);
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
    return std::nullopt;
  }
  if (separator == end || separator + 1 == end) {
    throw std::invalid_argument(
        "no command; give it behind --, as in devsan run --simulate 2 -- python train.py");
  }
  line.command.assign(separator + 1, end);
  for (const std::string& file : line.report_files) check_report_file(file);
  return line;
}

// A folder that is gone when the run is over.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "devsan-run-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error(fmt::format("cannot make a folder in {}: {}",
                                           fs::temp_directory_path().string(),
                                           std::strerror(errno)));
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_report_file(const std::string& path, const std::vector<Finding>& findings) {
  std::ofstream out(path);
  write_report(out, format_of_file(path), findings, {.color = false, .full_stacks = true});
  out.close();
  if (!out) {
    std::cerr << fmt::format("devsan run: could not write {}: {}\n", path, std::strerror(errno));
  }
}

bool has_error(const MergedReport& merged) {
  return std::ranges::any_of(merged.findings,
                             [](const Finding& finding) { return finding.level == Level::kError; });
}

// Prints the first `at_most` findings of the level and says how many more there are.
void show(const std::vector<Finding>& findings, Level level, std::size_t at_most,
          const CommandLine& line) {
  const RunTextOptions text{isatty(STDERR_FILENO) != 0, line.full_stacks};
  std::size_t seen = 0;
  for (const Finding& finding : findings) {
    if (finding.level == level && ++seen <= at_most) write_run_text(std::cerr, finding, text);
  }
  if (seen <= at_most) return;
  const std::size_t left = seen - at_most;
  std::cerr << fmt::format("devsan run: {}{} {}{}; --report FILE gets all\n", left,
                           at_most == 0 ? "" : " more", to_string(level), left == 1 ? "" : "s");
}

void say(const CommandLine& line, const MergedReport& merged) {
  for (const std::string& problem : merged.unreadable)
    std::cerr << "devsan run: " << problem << '\n';
  if (merged.traced_processes == 0 && line.options.trace_ops != 0) {
    std::cerr << "devsan run: no process ran a tensor op under the hooks: nothing was checked\n";
  }
  if (!merged.still_running.empty()) {
    std::cerr << fmt::format(
        "devsan run: the command ended, but {} of its processes still {} after {} s ({}): what "
        "they "
        "find from now on is not in this report\n",
        merged.still_running.size(), merged.still_running.size() == 1 ? "runs" : "run",
        kPatience.count(), fmt::join(merged.still_running, ", "));
  }
  const bool all = line.options.on_mismatch == "continue";
  show(merged.findings, Level::kError, all ? merged.findings.size() : 1, line);
  // Below an error, what the program lives with is noise.
  show(merged.findings, Level::kWarning, has_error(merged) ? 0 : kShownWarnings, line);
}

int run(CommandLine line) {
  const fs::path libraries = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib";
  const TemporaryFolder reports;
  line.options.report_dir = reports.path().string();

  int code = run_child(line.command, hook_environment(libraries, line.options));

  // Whoever reads our output may be gone (`devsan run ... | head`): the report files are still to
  // be written. Ignored from here only, since the command would inherit it.
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> still_running = wait_for_processes(reports.path(), kPatience);
  MergedReport merged = merge_reports(reports.path());
  merged.still_running = std::move(still_running);
  say(line, merged);
  for (const std::string& file : line.report_files) write_report_file(file, merged.findings);
  return code == 0 && has_error(merged) ? line.exit_code : code;
}

}  // namespace
}  // namespace devsan

int main(int argc, char** argv) {
  try {
    std::optional<devsan::CommandLine> line = devsan::parse(argc, argv);
    return line ? devsan::run(std::move(*line)) : 0;
  } catch (const CLI::Error& error) {
    std::cerr << "devsan run: " << error.what() << "; devsan run --help lists what is accepted\n";
  } catch (const std::exception& error) {
    std::cerr << "devsan run: " << error.what() << '\n';
  }
  return devsan::kWrongUse;
}
