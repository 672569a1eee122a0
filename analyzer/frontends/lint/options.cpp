// CLI11 reads the words; what it cannot say well is checked here.
#include "options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <stdexcept>

namespace devsan::lint {
namespace {

constexpr const char* kFooter = R"(Example:
  devsan lint src/                              every C++ file below src/
  devsan lint -p build --fix model.cpp          with build/compile_commands.json, and apply the fixes
  devsan lint --format sarif -o lint.sarif .    for a CI that reads SARIF
  devsan lint --rules=-*,devsan-dropped-move .  this rule alone
  devsan lint --since origin/main .             what a change brought in
  devsan lint model.pt                          a TorchScript archive: devices frozen into it

Exit: 0 clean (or everything fixed), 1 findings, 2 wrong use or internal error, 3 some file could not be
analysed (findings of the others are reported).)";

Format parse_format(const std::string& text) {
  if (text == "text") return Format::kText;
  if (text == "json") return Format::kJson;
  if (text == "sarif") return Format::kSarif;
  throw std::invalid_argument("--format: '" + text + "' is not known; accepted: text, json, sarif");
}

unsigned parse_threads(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const unsigned long value = digits && text.size() < 5 ? std::stoul(text) : 0;
  constexpr unsigned long kMost = 1024;
  if (value < 1 || value > kMost) {
    throw std::invalid_argument("-j: '" + text +
                                "' is not a number of threads; accepted: 1 to 1024");
  }
  return static_cast<unsigned>(value);
}

// "500MB" in bytes.
std::uint64_t parse_size(const std::string& text) {
  constexpr std::uint64_t kMost = 1 << 20;
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(rest, text.data() + text.size());
  int bits = 0;
  if (unit == "KB") bits = 10;
  if (unit == "MB") bits = 20;
  if (unit == "GB") bits = 30;
  if (error != std::errc{} || bits == 0 || value > kMost) {
    throw std::invalid_argument("--cache-limit: '" + text +
                                "' is not a size; accepted: 500MB, 2GB and the like");
  }
  return value << bits;
}

std::string first_line(std::string text) {
  const std::size_t end = text.find('\n');
  return end == std::string::npos ? text : text.substr(0, end);
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Options options;
  std::string format = "text";
  std::string threads;
  std::string cache_limit;
  bool no_cache = false;

  CLI::App app{"Finds tensors on the wrong device in C++ that uses LibTorch.", "devsan lint"};
  app.footer(kFooter);
  app.set_version_flag("--version", "devsan " DEVSAN_VERSION);
  app.add_option("PATHS", options.paths,
                 "C++ files, folders to look for them in, and TorchScript archives");
  app.add_option("-p", options.build_folder,
                 "Folder with compile_commands.json (default: found upwards from the file, then "
                 "build/); without one, flags are inferred and the report says so")
      ->type_name("DIR");
  app.add_option("--torch", options.torch,
                 "Where LibTorch is (default: the active Python, .deps/venv, CMAKE_PREFIX_PATH, "
                 "LIBTORCH)")
      ->type_name("DIR");
  app.add_option("--rules", options.rules,
                 "Changes which rules run, as clang-tidy's checks: -devsan-x,devsan-y")
      ->type_name("LIST");
  app.add_option("--format", format, "text, json or sarif")->type_name("FORMAT");
  app.add_option("-o", options.output, "Write the findings there instead of to stdout")
      ->type_name("FILE");
  app.add_flag("--fix", options.fix, "Apply the fixes, a file wholly or not at all");
  app.add_option(
         "--since", options.since,
         "Report only findings on lines changed since a git revision, or whose path has one")
      ->type_name("REV");
  app.add_option("--baseline", options.baseline, "Report only what is not in FILE")
      ->type_name("FILE");
  app.add_option("--write-baseline", options.write_baseline,
                 "Write this run's findings to FILE, for --baseline, and exit 0")
      ->type_name("FILE");
  app.add_option("--suppressions", options.suppressions,
                 "Report nothing that a line of FILE names: 'rule:files reason'")
      ->type_name("FILE");
  app.add_option("-j", threads, "Threads (default: cores)")->type_name("N");
  app.add_flag("--no-cache", no_cache,
               "Neither read nor write what earlier runs keep in the user's cache folder");
  app.add_option("--cache-limit", cache_limit,
                 "What that folder may take: what was not used for longest goes (default: 2GB)")
      ->type_name("SIZE");

  app.add_flag("--print-pch-flags", options.print_pch_flags,
               "Print what the stock clang-tidy is to be given to use the cached headers");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested{app.help()};
  } catch (const CLI::CallForVersion&) {
    throw HelpRequested{"devsan " DEVSAN_VERSION "\n"};
  } catch (const CLI::ExtrasError& error) {
    throw std::invalid_argument(first_line(error.what()) +
                                "; accepted: -p --torch --rules --format -o --fix --since "
                                "--baseline --write-baseline --suppressions -j --no-cache "
                                "--cache-limit --print-pch-flags --version --help");
  } catch (const CLI::ParseError& error) {
    throw std::invalid_argument(first_line(error.what()) + " (--help shows an example)");
  }

  if (options.paths.empty()) {
    throw std::invalid_argument("no input: name C++ files or folders (--help shows an example)");
  }
  if (!options.baseline.empty() && !options.write_baseline.empty()) {
    throw std::invalid_argument("--baseline and --write-baseline cannot be used together");
  }
  try {
    RuleSet::parse(options.rules);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("--rules: ") + error.what());
  }
  options.format = parse_format(format);
  if (!threads.empty()) options.threads = parse_threads(threads);
  options.cache = !no_cache;
  if (app.count("--cache-limit") > 0) options.cache_limit = parse_size(cache_limit);
  return options;
}

}  // namespace devsan::lint
