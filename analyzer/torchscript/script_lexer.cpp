// Names with their dots, numbers, texts and signs; blanks and comments are left out.
#include "script_lexer.h"

#include <algorithm>

namespace devsan::lint {
namespace {

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool begins_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

// One past the text that begins with a quote at `begin`.
std::size_t end_of_text(std::string_view code, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < code.size() && code[at] != code[begin] && code[at] != '\n') {
    at += code[at] == '\\' ? 2 : 1;
  }
  return std::min(at + 1, code.size());
}

}  // namespace

std::vector<ScriptToken> script_tokens(std::string_view code) {
  using Kind = ScriptToken::Kind;
  std::vector<ScriptToken> tokens;
  int depth = 0;
  const auto add = [&](Kind kind, std::size_t begin, std::size_t end) {
    tokens.push_back({kind, code.substr(begin, end - begin), begin, end});
  };
  for (std::size_t at = 0; at < code.size();) {
    const char letter = code[at];
    std::size_t end = at + 1;
    if (letter == '\n') {
      if (depth == 0) add(Kind::kLineEnd, at, end);
    } else if (letter == '#') {
      end = std::min(code.find('\n', at), code.size());
    } else if (begins_name(letter)) {
      while (end < code.size() &&
             (begins_name(code[end]) || is_digit(code[end]) || code[end] == '.')) {
        ++end;
      }
      add(Kind::kName, at, end);
    } else if (is_digit(letter)) {
      while (end < code.size() &&
             (begins_name(code[end]) || is_digit(code[end]) || code[end] == '.')) {
        ++end;
      }
      add(Kind::kNumber, at, end);
    } else if (letter == '"' || letter == '\'') {
      end = end_of_text(code, at);
      add(Kind::kText, at, end);
      tokens.back().text = code.substr(at + 1, std::max(end, at + 2) - at - 2);
    } else if (letter != ' ' && letter != '\t' && letter != '\r') {
      if (letter == '(' || letter == '[' || letter == '{') ++depth;
      if (letter == ')' || letter == ']' || letter == '}') depth = std::max(0, depth - 1);
      if (letter == '-' && end < code.size() && code[end] == '>') ++end;
      add(Kind::kSign, at, end);
    }
    at = end;
  }
  add(Kind::kLineEnd, code.size(), code.size());
  return tokens;
}

}  // namespace devsan::lint
