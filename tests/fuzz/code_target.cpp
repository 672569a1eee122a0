// All rules over any bytes as C++, read after mock_torch. Changed token by token, so that most of
// what is tried still parses.
#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <string_view>
#include <vector>

#include "check_code.h"
#include "target.h"

namespace devsan::fuzz {
namespace {

constexpr std::size_t kLongest = 8192;

constexpr std::array<const char*, 40> kTokens{"torch::Tensor",
                                              "torch::Device",
                                              "torch::kCUDA",
                                              "torch::kCPU",
                                              "\"cuda:0\"",
                                              "\"cuda:\"",
                                              "x",
                                              "x.cuda()",
                                              "x.cpu()",
                                              ".to(",
                                              ".device()",
                                              ".options()",
                                              "torch::zeros({2})",
                                              "torch::cat({x, x})",
                                              "[&]",
                                              "auto&",
                                              "const",
                                              "static",
                                              "template <class T>",
                                              "T",
                                              "struct",
                                              "forward",
                                              "register_buffer(\"x\", x)",
                                              "this->",
                                              "->",
                                              "::",
                                              "(",
                                              ")",
                                              "{",
                                              "}",
                                              ";",
                                              ",",
                                              "=",
                                              "+",
                                              "if",
                                              "for (;;)",
                                              "while",
                                              "return",
                                              "#define",
                                              "0"};

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  while (!text.empty()) {
    std::size_t length = 1;
    while (is_word(text[0]) && length < text.size() && is_word(text[length])) ++length;
    tokens.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return tokens;
}

}  // namespace

std::string mutated(const std::string& input, unsigned chance) {
  std::minstd_rand random(chance);
  std::vector<std::string_view> tokens = tokens_of(input);
  const auto any = [&](std::size_t count) { return count == 0 ? 0 : random() % count; };
  for (std::size_t changes = 1 + any(4); changes > 0; --changes) {
    const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(any(tokens.size()));
    switch (any(5)) {
      case 0:
        if (at != tokens.end()) tokens.erase(at);
        break;
      case 1:
        tokens.insert(at, kTokens[any(kTokens.size())]);
        break;
      case 2:
        if (at != tokens.end()) *at = kTokens[any(kTokens.size())];
        break;
      case 3:
        if (at != tokens.end()) std::swap(*at, tokens[any(tokens.size())]);
        break;
      default: {  // a piece of it once more, elsewhere
        const auto left = static_cast<std::size_t>(tokens.end() - at);
        const std::vector<std::string_view> piece(
            at, at + static_cast<std::ptrdiff_t>(std::min(left, 1 + any(30))));
        tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(any(tokens.size())),
                      piece.begin(), piece.end());
      }
    }
  }
  std::string text;
  for (const std::string_view token : tokens) text += token;
  text.resize(std::min(text.size(), kLongest));
  return text;
}

}  // namespace devsan::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  const std::string text = devsan::fuzz::mutated({reinterpret_cast<const char*>(data), size}, seed);
  const std::size_t length = std::min(text.size(), most);
  std::copy_n(text.begin(), length, data);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  devsan::lint::test::check_anything({reinterpret_cast<const char*>(data), size});
  return 0;
}
