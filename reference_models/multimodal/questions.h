// What is asked of a digit, in words, and what is to be answered.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace models::multimodal {

enum class Question { kWhichDigit, kIsEven };
inline constexpr std::array<Question, 2> kQuestions{Question::kWhichDigit, Question::kIsEven};

// The words, by token. "<image>" stands where the image does; it is the one token that Idefics adds
// to the vocabulary of its language model.
inline constexpr std::array<std::string_view, 22> kWords{
    "<pad>", "<bos>", "<eos>", "which", "digit", "is",  "this",  "it",    "even", ":",   "zero",
    "one",   "two",   "three", "four",  "five",  "six", "seven", "eight", "nine", "yes", "no"};
inline constexpr std::int64_t kVocabulary = kWords.size();
inline constexpr std::int64_t kAdditionalVocabulary = 1;
inline constexpr std::int64_t kPadding = 0;
inline constexpr std::int64_t kImage = kVocabulary;

// Throws std::out_of_range for a word that is not in the vocabulary.
std::int64_t token_of(std::string_view word);

// <bos> <image> which digit is this :   — or, without its words, <bos> <image> :
std::vector<std::int64_t> prompt_of(Question question, bool in_words);

// The one token that answers the question about a digit: its name, or yes or no.
std::int64_t answer_of(Question question, int label);

}  // namespace models::multimodal
