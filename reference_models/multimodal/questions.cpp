// The words of questions and answers.
#include "questions.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace models::multimodal {

std::int64_t token_of(std::string_view word) {
  if (word == "<image>") return kImage;
  const auto found = std::find(kWords.begin(), kWords.end(), word);
  if (found == kWords.end()) throw std::out_of_range("no such word: " + std::string(word));
  return found - kWords.begin();
}

std::vector<std::int64_t> prompt_of(Question question, bool in_words) {
  std::vector<std::string_view> words{"<bos>", "<image>"};
  if (in_words) {
    const std::vector<std::string_view> asked =
        question == Question::kWhichDigit
            ? std::vector<std::string_view>{"which", "digit", "is", "this"}
            : std::vector<std::string_view>{"is", "it", "even"};
    words.insert(words.end(), asked.begin(), asked.end());
  }
  words.push_back(":");
  std::vector<std::int64_t> tokens;
  for (const std::string_view word : words) tokens.push_back(token_of(word));
  return tokens;
}

std::int64_t answer_of(Question question, int label) {
  if (question == Question::kIsEven) return token_of(label % 2 == 0 ? "yes" : "no");
  return token_of("zero") + label;
}

}  // namespace models::multimodal
