// Lint's text: `file:line:col: warning: message [devsan-rule]`, as compilers print, with notes.
#include <ostream>

#include <fmt/format.h>

#include "devsan/findings/catalogue.h"
#include "devsan/findings/writers.h"
#include "source_lines.h"

namespace devsan {
namespace {

std::string where(const SourceRange& place) {
  std::string text = fmt::format("{}:{}", shown_path(place.file), place.line);
  if (place.column > 0) text += fmt::format(":{}", place.column);
  return text;
}

void write_excerpt(std::ostream& out, SourceLines& sources, const SourceRange& place) {
  const std::string& line = sources.line(place.file, place.line);
  constexpr std::size_t kLongest = 1000;  // what is longer was not written to be read
  if (line.empty() || line.size() > kLongest || place.column < 1) return;
  out << fmt::format("{:5} | {}\n", place.line, line);
  // The caret stands below its column whatever the tabs before it are wide.
  std::string marker;
  for (int i = 0; i + 1 < place.column && i < static_cast<int>(line.size()); ++i) {
    marker += line[static_cast<std::size_t>(i)] == '\t' ? '\t' : ' ';
  }
  marker += '^';
  if (place.end_line == place.line && place.end_column > place.column + 1) {
    marker.append(static_cast<std::size_t>(place.end_column - place.column - 1), '~');
  }
  out << fmt::format("      | {}\n", marker);
}

}  // namespace

void write_lint_text(std::ostream& out, std::span<const Finding> findings) {
  SourceLines sources;
  for (const Finding& finding : findings) {
    out << fmt::format("{}: {}: {} [{}]\n", where(finding.place), to_string(finding.level),
                       finding.message, public_id(finding));
    write_excerpt(out, sources, finding.place);
    for (const PathStep& step : finding.path) {
      out << fmt::format("{}: note: {}{}{}\n", where(step.place), step.label,
                         step.device.empty() ? "" : " " + step.device,
                         step.note.empty() ? "" : ": " + step.note);
    }
    if (!finding.why.empty()) {
      out << fmt::format("{}: note: {}\n", where(finding.place), finding.why);
    }
    for (const Fix& fix : finding.fixes) {
      out << fmt::format(
          "{}: note: fix: {} '{}'\n", where(fix.place),
          fix.place.line == fix.place.end_line && fix.place.column == fix.place.end_column
              ? "insert"
              : "replace with",
          fix.text);
    }
    if (finding.fixes.empty() && !finding.advice.empty()) {
      out << fmt::format("{}: note: {}\n", where(finding.place), finding.advice);
    }
  }
}

}  // namespace devsan
