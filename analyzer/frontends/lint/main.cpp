// The program devsan-lint, which `devsan lint` is: command line in, exit code out.
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>

#include "lint.h"

namespace {

constexpr int kClean = 0;
constexpr int kFindings = 1;
constexpr int kWrongUse = 2;
constexpr int kNotAnalysed = 3;

int run(int argc, const char* const* argv) {
  using namespace devsan::lint;
  const Options options = parse_options(argc, argv);
  const RunReport report = lint(options);
  if (options.output.empty()) {
    write_findings(std::cout, report, options.format);
  } else {
    std::ofstream out(options.output);
    write_findings(out, report, options.format);
    out.flush();
    if (!out) throw std::invalid_argument("-o: cannot write to '" + options.output + "'");
  }
  std::cout.flush();
  write_summary(std::cerr, report);
  for (const UnitReport& unit : report.units) {
    if (!unit.failure.empty()) return kNotAnalysed;
  }
  return report.findings.size() > static_cast<std::size_t>(report.fixed) ? kFindings : kClean;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const devsan::lint::HelpRequested& help) {
    std::cout << help.text;
    return kClean;
  } catch (const std::exception& error) {
    std::cerr << "devsan lint: " << error.what() << '\n';
    return kWrongUse;
  }
}
