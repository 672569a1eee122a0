// `devsan report IN… [-o OUT]`: merges reports and writes them in another format.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "commands.h"
#include "devsan/findings/merge.h"
#include "devsan/findings/writers.h"

namespace devsan {
namespace {

std::vector<Finding> read_all(const std::vector<std::string>& files) {
  std::vector<Finding> all;
  for (const std::string& file : files) {
    std::ifstream in(file);
    if (!in) throw std::invalid_argument(fmt::format("cannot read '{}'", file));
    std::ostringstream text;
    text << in.rdbuf();
    try {
      for (Finding& finding : read_json(text.str())) {
        all.push_back(std::move(finding));
      }
    } catch (const std::runtime_error& error) {
      throw std::invalid_argument(fmt::format("'{}' is {}", file, error.what()));
    }
  }
  return merge_findings(std::move(all));
}

}  // namespace

int report(const std::vector<std::string>& arguments) {
  std::vector<std::string> inputs;
  std::string output;
  CLI::App app("Merge reports of devsan lint and devsan run, and convert them.", "devsan report");
  app.footer("Example: devsan report rank0.json rank1.json -o all.sarif");
  app.add_option("IN", inputs, "reports in JSON")->required();
  app.add_option("-o", output,
                 "write to FILE: .json, .sarif, .html or .txt (default: text on stdout)")
      ->type_name("FILE");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(),
                                       arguments.rend()));  // CLI11 wants them last first
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    throw std::invalid_argument(fmt::format("report: {}", error.what()));
  }
  const Format format = output.empty() ? Format::kText : format_of_file(output);
  const std::vector<Finding> findings = read_all(inputs);
  if (output.empty()) {
    write_report(std::cout, format, findings);
    return 0;
  }
  std::ofstream out(output);
  write_report(out, format, findings);
  out.close();
  if (!out) throw std::runtime_error(fmt::format("could not write '{}'", output));
  return 0;
}

}  // namespace devsan
