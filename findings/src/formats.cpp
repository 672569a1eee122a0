// Which format a file's ending asks for, and a whole report in a format.
#include <fmt/format.h>

#include "devsan/findings/writers.h"

namespace devsan {

Format format_of_file(std::string_view path) {
  if (path.ends_with(".json")) return Format::kJson;
  if (path.ends_with(".sarif")) return Format::kSarif;
  if (path.ends_with(".html")) return Format::kHtml;
  if (path.ends_with(".txt")) return Format::kText;
  throw std::invalid_argument(fmt::format(
      "report file '{}': the ending says the format; give .json, .sarif, .html or .txt", path));
}

void write_report(std::ostream& out, Format format, std::span<const Finding> findings,
                  const RunTextOptions& options) {
  switch (format) {
    case Format::kJson:
      return write_json(out, findings);
    case Format::kSarif:
      return write_sarif(out, findings);
    case Format::kHtml:
      return write_html(out, findings);
    case Format::kText:
      for (const Finding& finding : findings) {
        if (finding.run) {
          write_run_text(out, finding, options);
        } else {
          write_lint_text(out, {&finding, 1});
        }
      }
  }
}

}  // namespace devsan
