// Findings as text, JSON and SARIF 2.1.0, and back from JSON.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan {

enum class Format { kText, kJson, kSarif, kHtml };

// The format that a file's ending asks for: .json, .sarif, .html or .txt. Throws
// std::invalid_argument with one line that says what is accepted.
Format format_of_file(std::string_view path);

// `file:line:col: warning: message [devsan-rule]` with notes for path, why and advice: editors and
// CI problem matchers read it.
void write_lint_text(std::ostream& out, std::span<const Finding> findings);

struct RunTextOptions {
  bool color = false;
  bool full_stacks = false;
};

// The block of a runtime report that starts with `==PID==ERROR: DevSan:` and ends with `SUMMARY:`;
// of a warning that was counted over the run two lines, and the block with `full_stacks` only.
void write_run_text(std::ostream& out, const Finding& finding, const RunTextOptions& options = {});

// `process`: of a report that one traced process writes about itself.
void write_json(std::ostream& out, std::span<const Finding> findings,
                const ReportedProcess* process = nullptr);

// Files are written relative to the working folder where they lie below it, else as file: URIs.
void write_sarif(std::ostream& out, std::span<const Finding> findings);

// One page that needs nothing but itself.
void write_html(std::ostream& out, std::span<const Finding> findings);

// All findings of a report in one format; as text each in the style of its half, `options` for
// those of a run.
void write_report(std::ostream& out, Format format, std::span<const Finding> findings,
                  const RunTextOptions& options = {});

// The process that a report is of; nothing where it does not say. Throws as read_json does.
std::optional<ReportedProcess> read_process(std::string_view text);

// Reads what write_json wrote. Throws std::runtime_error with one line that says what is wrong
// where.
std::vector<Finding> read_json(std::string_view text);

}  // namespace devsan
