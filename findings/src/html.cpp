// One self-contained page: each finding with its arguments, the odd one's path from where it was
// made to where it was used, and the edit. No script, nothing loaded from elsewhere: the file can
// be mailed, and opened where the program ran.
#include <algorithm>
#include <ostream>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "devsan/findings/catalogue.h"
#include "devsan/findings/merge.h"
#include "devsan/findings/writers.h"
#include "source_lines.h"

namespace devsan {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>DevSan report</title>
<style>
:root { color-scheme: light dark; --line: #8885; --soft: #8881; --bad: #c62828; --good: #2e7d32; --warn: #b26a00; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 0; } h3 { font-size: .9rem; margin: 1rem 0 .3rem; }
code, pre, td, .place { font-family: ui-monospace, monospace; font-size: .86rem; }
pre { margin: .2rem 0; white-space: pre-wrap; }
article { border: 1px solid var(--line); border-left: .35rem solid var(--warn); border-radius: .4rem; padding: 1rem 1.2rem; margin: 1.2rem 0; }
article.error { border-left-color: var(--bad); } article.note { border-left-color: var(--line); }
.context { opacity: .75; margin: 0; }
table { border-collapse: collapse; } td { padding: .15rem 1.2rem .15rem .3rem; } tr.odd { background: #c6282822; font-weight: 600; }
.device { display: inline-block; padding: 0 .5rem; border-radius: 1rem; color: #fff; background: #607d8b; }
.cuda0 { background: #1565c0; } .cuda1 { background: #ad1457; } .cuda2 { background: #2e7d32; } .cuda3 { background: #6a1b9a; }
.cuda4 { background: #b26a00; } .cuda5 { background: #00695c; } .cuda6 { background: #4e342e; } .cuda7 { background: #c62828; }
ol.path { list-style: none; margin: 0; padding: 0 0 0 .6rem; }
ol.path > li { border-left: 2px solid var(--line); padding: .1rem 0 .5rem 1rem; position: relative; }
ol.path > li::before { content: ""; position: absolute; left: -.42rem; top: .5rem; width: .7rem; height: .7rem; border-radius: 50%; background: var(--line); }
ol.path > li.used::before { background: var(--bad); }
ol.path > li.cause { background: var(--soft); }
.fix { border: 1px solid var(--good); border-radius: .4rem; padding: .5rem .8rem; margin-top: 1rem; }
.fix b { color: var(--good); }
details { margin: .2rem 0; } summary { cursor: pointer; opacity: .75; }
</style>
</head>
<body>
)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += letter;
    }
  }
  return safe;
}

// "<p>text</p>", or nothing where there is no text.
std::string element(std::string_view tag, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("<{0}>{1}</{0}>\n", tag, escaped(text));
}

// Eight colours, used again from cuda:8 on.
std::string device_chip(const std::string& device) {
  if (device.empty()) return {};
  std::string colour;
  if (device.starts_with("cuda:")) colour = fmt::format(" cuda{}", (device.back() - '0') % 8);
  return fmt::format("<span class=\"device{}\">{}</span>", colour, escaped(device));
}

class Page {
 public:
  explicit Page(std::ostream& out) : out_(out) {}

  void write(std::span<const Finding> findings) {
    out_ << kHead << "<h1>DevSan report</h1>\n" << summary(findings);
    for (const Finding& finding : findings) article(finding);
    out_ << "</body>\n</html>\n";
  }

 private:
  static std::string summary(std::span<const Finding> findings) {
    std::string text;
    for (const Level level : {Level::kError, Level::kWarning, Level::kNote}) {
      const auto count = std::ranges::count(findings, level, &Finding::level);
      if (count == 0) continue;
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", count, to_string(level),
                          count == 1 ? "" : "s");
    }
    return element("p", text.empty() ? "Nothing was found." : text);
  }

  void article(const Finding& finding) {
    out_ << fmt::format("<article class=\"{}\">\n<h2>{}: {}</h2>\n", to_string(finding.level),
                        escaped(public_id(finding)), escaped(finding.message));
    if (finding.run) {
      context(*finding.run);
      arguments(finding.run->arguments);
    } else {
      quoted(finding.place);
    }
    path(finding);
    if (finding.run) {
      stack("Called at", finding.run->stack);
      stack("The forward op was called at", finding.run->forward_stack);
    }
    out_ << element("p", finding.why);
    fix(finding);
    out_ << "</article>\n";
  }

  void context(const RunFacts& run) {
    std::string where;
    if (run.world_size > 1) {
      where = run.ranks.empty()
                  ? fmt::format("rank {}", run.rank)
                  : fmt::format("ranks {}, first on rank {}", ranks_text(run.ranks), run.rank);
      where += fmt::format(" of {}, ", run.world_size);
    }
    out_ << fmt::format("<p class=\"context\">in {}{} ({}process {}, step {}, op {})</p>\n",
                        escaped(run.op.name), run.op.backward ? ", in the backward pass" : "",
                        where, run.process, run.step, run.op.sequence);
    out_ << element("pre", run.error);
  }

  void arguments(const std::vector<Argument>& arguments) {
    if (arguments.empty()) return;
    out_ << "<table>\n";
    for (const Argument& argument : arguments) {
      out_ << fmt::format(
          "<tr{}><td>{}</td><td>{}[{}]</td><td>{}</td><td>{}</td></tr>\n",
          argument.odd ? " class=\"odd\"" : "", escaped(argument.name), escaped(argument.dtype),
          fmt::join(argument.shape, ","), device_chip(argument.device),
          escaped(argument.parameter.value_or("")) + (argument.odd ? " the odd one out" : ""));
    }
    out_ << "</table>\n";
  }

  void quoted(const SourceRange& place) {
    if (!place.known()) return;
    out_ << fmt::format("<div class=\"place\">{}</div>\n",
                        escaped(shown_place(place.file, place.line)))
         << element("pre", sources_.line(place.file, place.line));
  }

  // In the order of time, as one reads a story; findings hold it from the use back.
  void path(const Finding& finding) {
    if (finding.path.empty()) return;
    out_ << "<h3>How it came there</h3>\n<ol class=\"path\">\n";
    for (const PathStep& step : std::views::reverse(finding.path)) {
      const bool is_cause = step.place.known() && step.place.file == finding.place.file &&
                            step.place.line == finding.place.line;
      out_ << fmt::format("<li class=\"{}{}\">{} {} {}\n", step.label == "used" ? "used" : "",
                          is_cause ? " cause" : "", escaped(step.label), device_chip(step.device),
                          escaped(step.note));
      quoted(step.place);
      frames(step.stack);
      out_ << "</li>\n";
    }
    out_ << "</ol>\n";
  }

  void stack(std::string_view title, const std::vector<Frame>& list) {
    if (list.empty()) return;
    out_ << element("h3", title);
    frames(list);
  }

  void frames(const std::vector<Frame>& list) {
    if (list.empty()) return;
    out_ << fmt::format("<details><summary>{} frame{}</summary><pre>", list.size(),
                        list.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < list.size(); ++i) {
      out_ << fmt::format("#{} {}  {}\n", i, escaped(list[i].function),
                          escaped(shown_place(list[i].file, list[i].line)));
    }
    out_ << "</pre></details>\n";
  }

  void fix(const Finding& finding) {
    std::string edit = escaped(finding.advice);
    for (const Fix& each : finding.fixes) {
      if (!edit.empty()) edit += "<br>";
      edit +=
          fmt::format("{}: <code>{}</code>", escaped(shown_place(each.place.file, each.place.line)),
                      escaped(each.text));
    }
    if (edit.empty()) return;
    out_ << fmt::format(
        "<div class=\"fix\"><b>Fix</b> <span class=\"place\">{}</span><br>{}</div>\n",
        escaped(shown_place(finding.place.file, finding.place.line)), edit);
  }

  std::ostream& out_;
  SourceLines sources_;
};

}  // namespace

void write_html(std::ostream& out, std::span<const Finding> findings) {
  Page(out).write(findings);
}

}  // namespace devsan
