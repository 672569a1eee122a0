// The text of a runtime report: what failed, each argument, how the odd one got there, why, the
// edit.
#include <algorithm>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "devsan/findings/merge.h"
#include "devsan/findings/writers.h"
#include "source_lines.h"

namespace devsan {
namespace {

constexpr std::size_t kShownFrames = 12;
constexpr std::size_t kFunctionWidth = 48;

struct Paint {
  bool on = false;
  std::string red(std::string_view text) const { return wrap("\x1b[1;31m", text); }
  std::string bold(std::string_view text) const { return wrap("\x1b[1m", text); }
  std::string green(std::string_view text) const { return wrap("\x1b[1;32m", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    return on ? fmt::format("{}{}\x1b[0m", code, text) : std::string(text);
  }
};

std::string strip(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::string place_text(const std::string& file, int line) {
  return file.empty() ? "?" : shown_place(file, line);
}

// "rank 1 of 2, "; of a fault that ranks share, "ranks 1-7 of 8, first on rank 3, ".
std::string which_ranks(const RunFacts& facts) {
  if (facts.world_size <= 1) return {};
  if (facts.ranks.empty()) return fmt::format("rank {} of {}, ", facts.rank, facts.world_size);
  return fmt::format("ranks {} of {}, first on rank {}, ", ranks_text(facts.ranks),
                     facts.world_size, facts.rank);
}

class RunReport {
 public:
  RunReport(std::ostream& out, const RunTextOptions& options)
      : out_(out), options_(options), paint_{options.color} {}

  void write(const Finding& finding) {
    const RunFacts facts = finding.run.value_or(RunFacts{});
    if (finding.level == Level::kWarning && !options_.full_stacks) return warning(finding, facts);
    headline(finding, facts);
    arguments(facts.arguments);
    frames(facts.stack, {});
    if (!facts.forward_stack.empty()) {
      out_ << "  in the backward pass of the op called at\n";
      frames(facts.forward_stack, {});
    }
    path(finding, facts);
    if (!finding.why.empty()) out_ << "  " << finding.why << '\n';
    advice(finding);
    summary(finding, facts);
  }

 private:
  // What the program lives with is said in two lines: what was seen where, and what to change.
  void warning(const Finding& finding, const RunFacts& facts) {
    std::string ranks = which_ranks(facts);
    if (!ranks.empty()) ranks = " (" + ranks.substr(0, ranks.size() - 2) + ")";
    out_ << paint_.red(fmt::format("=={}==WARNING: DevSan: {}", facts.process, finding.rule))
         << fmt::format(" {}{}: {}\n",
                        finding.place.known() ? place_text(finding.place.file, finding.place.line)
                                              : facts.op.name,
                        ranks, finding.message);
    if (!finding.advice.empty()) {
      out_ << "  " << paint_.green("Fix:") << ' ' << finding.advice << '\n';
    }
  }

  void headline(const Finding& finding, const RunFacts& facts) {
    std::string context = which_ranks(facts);
    context += fmt::format("step {}, op {}", facts.step, facts.op.sequence);
    out_ << paint_.red(fmt::format("=={}=={}: DevSan: {}", facts.process,
                                   finding.level == Level::kError ? "ERROR" : "WARNING",
                                   finding.rule))
         << fmt::format(" in {}{} ({})\n", facts.op.name,
                        facts.op.backward ? ", in the backward pass" : "", context);
    if (!facts.inner_op.empty()) {
      out_ << fmt::format("  {} called {}, whose check failed\n", facts.op.name, facts.inner_op);
    }
    // An op's error is PyTorch's own; what a function raised says itself what it is.
    if (!facts.error.empty()) {
      const bool is_op = facts.op.name.find("::") != facts.op.name.npos;
      out_ << (is_op ? "  PyTorch: " : "  ") << facts.error << '\n';
    }
  }

  void arguments(const std::vector<Argument>& arguments) {
    std::vector<std::string> types;
    std::size_t name_width = 0;
    std::size_t type_width = 0;
    std::size_t device_width = 0;
    for (const Argument& argument : arguments) {
      types.push_back(fmt::format("{}[{}]", argument.dtype, fmt::join(argument.shape, ",")));
      name_width = std::max(name_width, argument.name.size());
      type_width = std::max(type_width, types.back().size());
      device_width = std::max(device_width, argument.device.size());
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = arguments[i];
      const std::string row = fmt::format("  {:<{}}  {:<{}}  {:<{}}", argument.name, name_width,
                                          types[i], type_width, argument.device, device_width);
      std::string remarks;
      if (argument.parameter) remarks += "  " + *argument.parameter;
      if (argument.odd) remarks += "  <- odd one out";
      out_ << (argument.odd ? paint_.bold(row + remarks) : row + remarks) << '\n';
    }
  }

  // `code` is shown behind the first frame.
  void frames(const std::vector<Frame>& stack, const std::string& code) {
    const std::size_t shown =
        options_.full_stacks ? stack.size() : std::min(stack.size(), kShownFrames);
    std::size_t width = 0;
    for (std::size_t i = 0; i < shown; ++i) {
      width = std::max(width, std::min(stack[i].function.size(), kFunctionWidth));
    }
    for (std::size_t i = 0; i < shown; ++i) {
      std::string quoted = i == 0 ? code : std::string();
      if (quoted.empty() && i == 0) quoted = strip(sources_.line(stack[0].file, stack[0].line));
      out_ << fmt::format("    #{} {:<{}}  {}{}\n", i, stack[i].function, width,
                          place_text(stack[i].file, stack[i].line),
                          quoted.empty() ? "" : "     " + quoted);
    }
    if (shown < stack.size()) {
      out_ << fmt::format("    ... {} more (--full-stacks shows them)\n", stack.size() - shown);
    }
  }

  void path(const Finding& finding, const RunFacts& facts) {
    std::string subject = "the tensor";
    for (const Argument& argument : facts.arguments) {
      if (argument.odd) subject = fmt::format("'{}'", argument.name);
    }
    for (const PathStep& step : finding.path) {
      if (step.label == "used") continue;  // its stack stands above
      const char* preposition = step.label == "moved" || step.label == "copied" ? "to" : "on";
      out_ << fmt::format(
          "  {} was {}{}{}\n", subject, step.label,
          step.device.empty() ? "" : fmt::format(" {} {}", preposition, step.device),
          step.note.empty() ? "" : ", " + step.note);
      if (!step.stack.empty()) {
        const Frame& first = step.stack.front();
        const bool is_place = first.file == step.place.file && first.line == step.place.line;
        frames(step.stack, is_place ? strip(step.code) : std::string());
      } else if (step.place.known()) {
        out_ << fmt::format("    at {}     {}\n", place_text(step.place.file, step.place.line),
                            strip(step.code));
      }
    }
  }

  void advice(const Finding& finding) {
    if (finding.advice.empty()) return;
    out_ << "  " << paint_.green("Fix:") << ' ';
    if (finding.place.known()) {
      out_ << place_text(finding.place.file, finding.place.line) << ": ";
    }
    out_ << finding.advice << '\n';
  }

  // One line that a script can read: where to look, and in which function that is.
  void summary(const Finding& finding, const RunFacts& facts) {
    std::string function;
    const auto look = [&](const std::vector<Frame>& stack) {
      for (const Frame& frame : stack) {
        if (function.empty() && frame.file == finding.place.file &&
            frame.line == finding.place.line) {
          function = frame.function;
        }
      }
    };
    look(facts.stack);
    look(facts.forward_stack);
    for (const PathStep& step : finding.path) look(step.stack);
    out_ << fmt::format(
        "SUMMARY: DevSan: {} {}{}\n", finding.rule,
        finding.place.known() ? place_text(finding.place.file, finding.place.line) : facts.op.name,
        function.empty() ? "" : " in " + function);
  }

  std::ostream& out_;
  RunTextOptions options_;
  Paint paint_;
  SourceLines sources_;
};

}  // namespace

void write_run_text(std::ostream& out, const Finding& finding, const RunTextOptions& options) {
  RunReport(out, options).write(finding);
}

}  // namespace devsan
