// The program devsan-lint, which `devsan lint` is: command line in, exit code out.
#include <algorithm>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "apply_fixes.h"
#include "baseline.h"
#include "interrupt.h"
#include "lint.h"
#include "pch_flags.h"
#include "whole_files.h"

namespace {

constexpr int kClean = 0;
constexpr int kFindings = 1;
constexpr int kWrongUse = 2;
constexpr int kNotAnalysed = 3;

void fix(devsan::lint::RunReport& report) {
  const devsan::lint::FixOutcome outcome = devsan::lint::apply_fixes(report.findings);
  report.fixed = static_cast<int>(std::count(outcome.fixed.begin(), outcome.fixed.end(), true));
  if (!outcome.failures.empty()) throw std::runtime_error("--fix: " + outcome.failures.front());
}

int run(int argc, const char* const* argv) {
  using namespace devsan::lint;
  const Options options = parse_options(argc, argv);
  if (options.print_pch_flags) {
    std::cout << pch_flags(options);
    return kClean;
  }
  RunReport report = lint(options);
  if (!options.write_baseline.empty()) {
    write_baseline(options.write_baseline, report.findings);
    write_summary(std::cerr, report);
    return kClean;
  }
  if (options.output.empty()) {
    write_findings(std::cout, report, options.format);
  } else {
    std::ostringstream out;
    write_findings(out, report, options.format);
    if (!replace_file(options.output, out.str())) {
      throw std::invalid_argument("-o: cannot write to '" + options.output + "'");
    }
  }
  std::cout.flush();
  // After the findings, which quote the lines that they were made on.
  if (options.fix) fix(report);
  write_summary(std::cerr, report);
  for (const UnitReport& unit : report.units) {
    if (!unit.failure.empty()) return kNotAnalysed;
  }
  return report.findings.size() > static_cast<std::size_t>(report.fixed) ? kFindings : kClean;
}

}  // namespace

int main(int argc, char** argv) {
  devsan::lint::end_on_interrupt();
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
