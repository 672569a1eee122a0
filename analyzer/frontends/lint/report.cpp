// Findings through the shared writers; what only lint knows beside them.
#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "devsan/findings/writers.h"

namespace devsan::lint {
namespace {

using Json = nlohmann::ordered_json;

Json file_json(const UnitReport& unit) {
  const ParseConfidence& confidence = unit.confidence;
  return {{"file", unit.file},
          {"analysed", unit.failure.empty()},
          {"reason", unit.failure},
          {"inferred_flags", unit.inferred_flags},
          {"cuda_headers_missing", unit.cuda_headers_missing},
          {"functions", confidence.functions},
          {"broken_functions", confidence.broken_functions},
          {"statements", confidence.statements},
          {"broken_statements", confidence.broken_statements},
          {"functions_over_limit", unit.functions_over_limit},
          {"summaries_used", unit.summaries_used},
          {"missing_headers", unit.missing_headers},
          {"first_error", unit.first_error}};
}

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string understood(const UnitReport& unit) {
  std::string text =
      fmt::format("{:.0f}% of {} parsed without errors", 100 * unit.confidence.share(),
                  plural(static_cast<std::size_t>(unit.confidence.statements), "statement"));
  if (!unit.missing_headers.empty()) {
    text += fmt::format("; missing headers: {}", fmt::join(unit.missing_headers, ", "));
  } else if (!unit.first_error.empty()) {
    text += "; first error: " + unit.first_error;
  }
  return text;
}

}  // namespace

void write_findings(std::ostream& out, const RunReport& report, Format format) {
  switch (format) {
    case Format::kText:
      write_lint_text(out, report.findings);
      return;
    case Format::kSarif:
      write_sarif(out, report.findings);
      return;
    case Format::kHtml:
      write_html(out, report.findings);
      return;
    case Format::kJson:
      break;
  }
  std::ostringstream text;
  write_json(text, report.findings);
  Json document = Json::parse(text.str());
  document["files"] = Json::array();
  for (const UnitReport& unit : report.units) document["files"].push_back(file_json(unit));
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void write_summary(std::ostream& err, const RunReport& report) {
  std::size_t failed = 0;
  std::size_t inferred = 0;
  std::size_t over_limit = 0;
  std::size_t without_cuda = 0;
  for (const UnitReport& unit : report.units) {
    inferred += unit.inferred_flags ? 1 : 0;
    without_cuda += unit.cuda_headers_missing ? 1 : 0;
    over_limit += static_cast<std::size_t>(unit.functions_over_limit);
    if (!unit.failure.empty()) {
      ++failed;
      err << fmt::format("devsan lint: {}: cannot be analysed: {}\n", unit.file, unit.failure);
    } else if (unit.confidence.broken_statements > 0) {
      err << fmt::format("devsan lint: {}: {}\n", unit.file, understood(unit));
    }
  }
  for (const std::string& stale : report.stale) err << "devsan lint: " << stale << '\n';
  if (over_limit > 0) {
    err << fmt::format(
        "devsan lint: {} too large to follow devices through: skipped by the rules "
        "that do\n",
        plural(over_limit, "function"));
  }
  if (without_cuda > 0) {
    err << fmt::format(
        "devsan lint: no CUDA headers found (looked in CUDA_HOME, CUDA_PATH, the nvidia wheels "
        "beside "
        "torch, /usr/local/cuda and /usr/include): {} read with stand-ins for them\n",
        plural(without_cuda, "CUDA file"));
  }
  if (inferred > 0) {
    err << fmt::format(
        "devsan lint: no compile_commands.json for {}: flags were inferred (-p DIR names one)\n",
        plural(inferred, "file"));
  }
  std::string line = fmt::format("devsan lint: {}, {}", plural(report.units.size(), "file"),
                                 plural(report.findings.size(), "finding"));
  if (report.fixed > 0) line += fmt::format(" ({} fixed)", report.fixed);
  if (failed > 0) line += fmt::format(", {} not analysed", failed);
  const auto left_out = [&line](int count, const char* why) {
    if (count > 0) line += fmt::format(", {} {}", count, why);
  };
  left_out(report.in_baseline, "in the baseline");
  left_out(report.suppressed, "suppressed");
  left_out(report.unchanged, "on lines that did not change");
  line += fmt::format(", {:.1f} s", report.seconds);
  if (report.from_cache > 0) {
    line += fmt::format(" ({} known from an earlier run)",
                        plural(static_cast<std::size_t>(report.from_cache), "file"));
  }
  if (report.pchs_built > 0) {
    line += fmt::format(" ({:.1f} s of it for LibTorch's headers, now cached)", report.pch_seconds);
  }
  err << line << '\n';
}

}  // namespace devsan::lint
