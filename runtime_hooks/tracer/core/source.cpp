// Reading source lines without a parser: good enough for a hint, and silent where it is not sure.
#include "core/source.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <regex>

namespace devsan::trace {
namespace {

std::string stripped(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

int open_brackets(std::string_view text) {
  int open = 0;
  for (const char letter : text) {
    if (letter == '(' || letter == '[' || letter == '{') ++open;
    if (letter == ')' || letter == ']' || letter == '}') --open;
  }
  return open;
}

std::vector<std::string> read_lines(const std::string& file, int first, int count) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  std::string text;
  for (int number = 1; number < first + count && std::getline(in, text); ++number) {
    if (number >= first) lines.push_back(text);
  }
  return lines;
}

constexpr int kStatementLines = 5;
constexpr int kLongestFile = 100'000;  // lines

// The text without a trailing comment.
std::string without_comment(std::string_view text, bool python) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == quote)
        quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (python ? text[i] == '#' : text.substr(i, 2) == "//") {
      return std::string(text.substr(0, i));
    }
  }
  return std::string(text);
}

// Splits at commas outside brackets and quotes.
std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  char quote = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quote) {
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (std::string_view("([{").find(letter) != std::string_view::npos) {
      ++depth;
    } else if (std::string_view(")]}").find(letter) != std::string_view::npos) {
      --depth;
    } else if (letter == ',' && depth == 0) {
      parts.push_back(stripped(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (const std::string last = stripped(text.substr(start)); !last.empty()) parts.push_back(last);
  return parts;
}

// The position of the bracket that closes the one at `open`; npos when it does not.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (std::string_view("([{").find(text[i]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(text[i]) != std::string_view::npos && --depth == 0) return i;
  }
  return std::string_view::npos;
}

const std::map<std::string_view, std::string_view>& operator_of_op() {
  static const std::map<std::string_view, std::string_view> operators = {
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"lt", "<"},
      {"gt", ">"},  {"le", "<="}, {"ge", ">="}, {"eq", "=="}, {"ne", "!="}};
  return operators;
}

std::size_t indent_of(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

bool is_blank(std::string_view text) {
  return stripped(without_comment(text, /*python=*/true)).empty();
}

bool starts_function(std::string_view text) {
  const std::string code = stripped(text);
  return code.starts_with("def ") || code.starts_with("async def ");
}

// Index of the `def` around lines[at], or nothing.
std::optional<std::size_t> enclosing_def(const std::vector<std::string>& lines, std::size_t at) {
  const std::size_t inside = indent_of(lines[at]);
  for (std::size_t i = at + 1; i > 0; --i) {
    if (starts_function(lines[i - 1]) && (indent_of(lines[i - 1]) < inside || i - 1 == at)) {
      return i - 1;
    }
  }
  return std::nullopt;
}

// "a", "self.x[0]", "batch->ids" on one side of an operator: names, members, and brackets that
// follow.
constexpr const char* kOperand = R"(([A-Za-z_][\w.]*(?:->[\w.]+)*(?:\[[^\][]*\]|\([^()]*\))*))";

}  // namespace

bool is_python_file(std::string_view file) {
  return file.ends_with(".py") || file.ends_with(".ipynb") || file.starts_with("<");
}

std::string source_line(const std::string& file, int line) {
  if (file.empty() || line <= 0) return {};
  const std::vector<std::string> lines = read_lines(file, line, 1);
  return lines.empty() ? std::string() : stripped(lines.front());
}

std::string source_statement(const std::string& file, int line) {
  if (file.empty() || line <= 0) return {};
  std::string statement;
  for (const std::string& text : read_lines(file, line, kStatementLines)) {
    if (!statement.empty()) statement += ' ';
    statement += stripped(without_comment(text, is_python_file(file)));
    if (open_brackets(statement) <= 0) break;
  }
  return statement;
}

std::optional<std::string> device_literal(std::string_view statement, Device device) {
  const std::string type = to_string({device.type, -1});
  const std::string index = std::to_string(std::max<int>(device.index, 0));
  std::string upper = type;
  std::ranges::transform(upper, upper.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  // A literal without an index means the current device: the first one, unless the program set it.
  const std::array<std::string, 5> forms = {
      "[\"']" + type + "(:" + index + ")?[\"']",
      "\\bDevice(Type)?\\s*[({]\\s*[\\w:]*k" + upper + "\\s*,\\s*" + index + "\\s*[)}]",
      "\\b(?:[\\w]+::)*k" + upper + "\\b(?!\\s*,)",
      "\\." + type + "\\(\\s*(" + index + ")?\\s*\\)",
      "[\"']" + type + "[\"']\\s*,\\s*" + index + "\\b",
  };
  for (const std::string& form : forms) {
    std::match_results<std::string_view::const_iterator> match;
    if (std::regex_search(statement.begin(), statement.end(), match, std::regex(form))) {
      return match.str(0);
    }
  }
  return std::nullopt;
}

std::string assigned_name(std::string_view statement) {
  static const std::regex assignment(R"(^\s*([A-Za-z_]\w*)\s*(?::[^=]*)?=[^=])");
  const std::string text(statement);
  std::smatch match;
  return std::regex_search(text, match, assignment) ? match.str(1) : std::string();
}

bool has_word(std::string_view text, const std::string& name) {
  return std::regex_search(text.begin(), text.end(), std::regex("\\b" + name + "\\b"));
}

int return_line(const std::string& file, int line, const std::string& name) {
  const std::vector<std::string> lines = read_lines(file, 1, kLongestFile);
  const auto at = static_cast<std::size_t>(line) - 1;
  if (line < 1 || at >= lines.size()) return 0;
  const auto start = enclosing_def(lines, at);
  if (!start) return 0;
  int first = 0;
  for (std::size_t i = at; i < lines.size(); ++i) {
    if (is_blank(lines[i])) continue;
    if (i > at && indent_of(lines[i]) <= indent_of(lines[*start])) break;
    if (!stripped(lines[i]).starts_with("return ")) continue;
    const int number = static_cast<int>(i) + 1;
    if (first == 0) first = number;
    if (!name.empty() && has_word(source_statement(file, number), name)) return number;
  }
  return first;
}

std::string enclosing_signature(const std::string& file, int line) {
  const std::vector<std::string> lines = read_lines(file, 1, kLongestFile);
  const auto at = static_cast<std::size_t>(line) - 1;
  if (line < 1 || at >= lines.size()) return {};
  const auto start = enclosing_def(lines, at);
  return start ? source_statement(file, static_cast<int>(*start) + 1) : std::string();
}

std::vector<std::string> call_arguments(std::string_view statement, std::string_view op) {
  const auto colons = op.rfind("::");
  std::string name(colons == op.npos ? op : op.substr(colons + 2));
  const std::string text(statement);

  if (const auto sign = operator_of_op().find(name); sign != operator_of_op().end()) {
    std::string classes;  // a class of one character needs no escape
    for (const char letter : sign->second) classes += std::string("[") + letter + "]";
    const std::regex operation(std::string(kOperand) + "\\s*" + classes + "=?\\s*" + kOperand);
    std::smatch match;
    const bool once = text.find(sign->second) == text.rfind(sign->second);
    if (once && std::regex_search(text, match, operation)) return {match.str(1), match.str(2)};
  }

  // linear(a, b), F.linear(a, b), torch::linear(a, b): the function's own name, once.
  const std::regex call("\\b" + name + "_?\\s*\\(");
  auto first = std::sregex_iterator(text.begin(), text.end(), call);
  if (first == std::sregex_iterator() || std::next(first) != std::sregex_iterator()) return {};
  const auto open = static_cast<std::size_t>(first->position() + first->length()) - 1;
  const std::size_t close = closing(text, open);
  if (close == std::string::npos) return {};
  std::vector<std::string> arguments =
      split_arguments(std::string_view(text).substr(open + 1, close - open - 1));
  // A method's receiver is its first argument: a.matmul(b).
  const std::string before = text.substr(0, static_cast<std::size_t>(first->position()));
  static const std::regex receiver(R"(([A-Za-z_][\w.]*(?:->\w+)*)\.$)");
  std::smatch match;
  if (std::regex_search(before, match, receiver)) {
    const std::string object = match.str(1);
    if (object != "F" && object != "torch" && !object.ends_with("functional")) {
      arguments.insert(arguments.begin(), object);
    }
  }
  return arguments;
}

}  // namespace devsan::trace
