// The words of TorchScript's serialised code, which is a small part of Python.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace devsan::lint {

struct ScriptToken {
  enum class Kind { kName, kNumber, kText, kSign, kLineEnd };

  Kind kind = Kind::kLineEnd;
  std::string_view text;  // of names with their dots: "torch.zeros"; of text without its quotes
  std::size_t begin = 0;  // in bytes, of the whole token
  std::size_t end = 0;

  bool is(std::string_view sign) const { return kind == Kind::kSign && text == sign; }
  bool is_name(std::string_view name) const { return kind == Kind::kName && text == name; }
};

// Lines end only outside parentheses. A text that does not end, ends with its line.
std::vector<ScriptToken> script_tokens(std::string_view code);

}  // namespace devsan::lint
