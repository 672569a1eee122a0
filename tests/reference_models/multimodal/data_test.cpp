// Digits, questions about them, batches, and the parts that ranks take.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/usage_error.h"
#include "multimodal/digits.h"
#include "multimodal/processor.h"
#include "multimodal/questions.h"
#include "multimodal/shard.h"

namespace models::multimodal {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class DigitsTest : public testing::Test {
 protected:
  DigitsTest() : path_(fs::path(testing::TempDir()) / (std::string("digits-") + test_name())) {}
  ~DigitsTest() override { fs::remove(path_); }

  std::vector<Digit> read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_digits(path_);
  }
  // What is said of a file with this text, after its name.
  std::string error(const std::string& text) {
    try {
      read(text);
    } catch (const UsageError& problem) {
      const std::string message = problem.what();
      EXPECT_TRUE(message.starts_with(path_.string())) << message;
      return message.substr(path_.string().size());
    }
    return "no error";
  }
  const fs::path path_;

 private:
  static const char* test_name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
};

std::string line_of(const std::string& pixel, const std::string& label) {
  std::string line;
  for (int i = 0; i < 64; ++i) line += pixel + ",";
  return line + label;
}

TEST_F(DigitsTest, ReadsPixelsAndLabel) {
  const auto digits = read(line_of("0", "3") + "\n" + line_of("16", "9") + "\r\n");
  ASSERT_EQ(digits.size(), 2U);
  EXPECT_EQ(digits[0].label, 3);
  EXPECT_THAT(digits[0].pixels, testing::Each(0));
  EXPECT_EQ(digits[1].label, 9);
  EXPECT_THAT(digits[1].pixels, testing::Each(16));
}

TEST_F(DigitsTest, SaysLineAndFieldOfWhatIsWrong) {
  const std::string good = line_of("1", "1") + "\n";
  EXPECT_EQ(error(good + line_of("17", "1")),
            ":2: field 1 is '17'; accepted: a pixel from 0 to 16");
  EXPECT_EQ(error(good + line_of("-1", "1")),
            ":2: field 1 is '-1'; accepted: a pixel from 0 to 16");
  EXPECT_EQ(error(line_of("1", "10")), ":1: field 65 is '10'; accepted: a label from 0 to 9");
  EXPECT_EQ(error(line_of("1", "x")), ":1: field 65 is 'x'; accepted: a label from 0 to 9");
  EXPECT_THAT(error("1,2,3"), HasSubstr(":1: not a digit; accepted: 64 pixels and a label"));
  EXPECT_THAT(error(line_of("1", "1") + ",1"), HasSubstr(":1: not a digit"));
}

TEST_F(DigitsTest, SaysThatThereIsNoFile) {
  EXPECT_THROW(read_digits(path_), UsageError);
  EXPECT_THROW(read_digits(fs::temp_directory_path()), UsageError);
}

// `count` images that differ, and each fifth of them twice.
std::vector<Digit> some_digits(int count) {
  std::vector<Digit> digits;
  for (int i = 0; i < count; ++i) {
    Digit digit{};
    digit.label = i % 10;
    digit.pixels[0] = static_cast<std::uint8_t>(i % 17);
    digit.pixels[1] = static_cast<std::uint8_t>(i / 17);
    digits.push_back(digit);
    if (i % 5 == 0) digits.push_back(digit);
  }
  return digits;
}

TEST(SplitTest, EveryDigitIsOnOneSideAndEqualOnesTogether) {
  const auto digits = some_digits(200);
  const Split split = split_digits(digits, 7);
  EXPECT_EQ(split.train.size() + split.held_out.size(), digits.size());
  std::set<std::array<std::uint8_t, 64>> train;
  std::set<std::array<std::uint8_t, 64>> held_out;
  for (const Digit& digit : split.train) train.insert(digit.pixels);
  for (const Digit& digit : split.held_out) held_out.insert(digit.pixels);
  EXPECT_EQ(train.size(), 160U);
  EXPECT_EQ(held_out.size(), 40U);
  for (const auto& pixels : held_out) EXPECT_FALSE(train.contains(pixels));
}

TEST(SplitTest, DependsOnTheSeedAlone) {
  const auto held_out = [](std::uint64_t seed) {
    std::vector<std::uint8_t> first_pixels;
    for (const Digit& digit : split_digits(some_digits(200), seed).held_out) {
      first_pixels.push_back(digit.pixels[0]);
    }
    return first_pixels;
  };
  EXPECT_EQ(held_out(1), held_out(1));
  EXPECT_NE(held_out(1), held_out(2));
}

TEST(SplitTest, RefusesTooFew) {
  EXPECT_THROW(split_digits(some_digits(20), 0), UsageError);
}

std::vector<std::string> words_of(const std::vector<std::int64_t>& tokens) {
  std::vector<std::string> words;
  for (const std::int64_t token : tokens) {
    words.emplace_back(token == kImage ? "<image>" : kWords[static_cast<std::size_t>(token)]);
  }
  return words;
}

TEST(QuestionsTest, AskInWordsOrNotAtAll) {
  EXPECT_THAT(words_of(prompt_of(Question::kWhichDigit, true)),
              ElementsAre("<bos>", "<image>", "which", "digit", "is", "this", ":"));
  EXPECT_THAT(words_of(prompt_of(Question::kIsEven, true)),
              ElementsAre("<bos>", "<image>", "is", "it", "even", ":"));
  EXPECT_EQ(prompt_of(Question::kWhichDigit, false), prompt_of(Question::kIsEven, false));
  EXPECT_THAT(words_of(prompt_of(Question::kIsEven, false)), ElementsAre("<bos>", "<image>", ":"));
}

TEST(QuestionsTest, AnswersAreTrue) {
  EXPECT_THAT(words_of({answer_of(Question::kWhichDigit, 0), answer_of(Question::kWhichDigit, 7),
                        answer_of(Question::kWhichDigit, 9)}),
              ElementsAre("zero", "seven", "nine"));
  EXPECT_THAT(words_of({answer_of(Question::kIsEven, 0), answer_of(Question::kIsEven, 7),
                        answer_of(Question::kIsEven, 8)}),
              ElementsAre("yes", "no", "yes"));
  EXPECT_THROW(token_of("ten"), std::out_of_range);
}

std::vector<std::int64_t> row_of(const torch::Tensor& tensor, std::int64_t row) {
  const torch::Tensor values = tensor[row].flatten().contiguous();
  const auto* begin = values.data_ptr<std::int64_t>();
  return {begin, begin + values.numel()};
}

TEST(ProcessorTest, MakesTokensMasksAndLabels) {
  std::vector<Digit> digits(2);
  digits[0].label = 4;
  digits[1].label = 7;
  digits[1].pixels.fill(16);
  const Batch batch =
      make_batch(digits, {{1, Question::kIsEven}, {0, Question::kWhichDigit}}, /*in_words=*/true);
  EXPECT_THAT(words_of(row_of(batch.inputs.input_ids, 0)),
              ElementsAre("<bos>", "<image>", "is", "it", "even", ":", "no", "<eos>", "<pad>"));
  EXPECT_THAT(
      words_of(row_of(batch.inputs.input_ids, 1)),
      ElementsAre("<bos>", "<image>", "which", "digit", "is", "this", ":", "four", "<eos>"));
  EXPECT_THAT(row_of(batch.inputs.attention_mask, 0), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 0));
  EXPECT_THAT(row_of(batch.inputs.image_attention_mask, 0), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1, 1));
  const std::int64_t no = token_of("no");
  const std::int64_t eos = token_of("<eos>");
  EXPECT_THAT(row_of(batch.labels, 0), ElementsAre(kIgnored, kIgnored, kIgnored, kIgnored, kIgnored,
                                                   kIgnored, no, eos, kIgnored));
  EXPECT_TRUE(torch::equal(batch.task, torch::tensor({1, 0})));
  EXPECT_TRUE(torch::equal(batch.inputs.pixel_values[0], torch::full({1, 1, 8, 8}, 0.5F)));
  EXPECT_TRUE(torch::equal(batch.inputs.pixel_values[1], torch::full({1, 1, 8, 8}, -0.5F)));
}

TEST(ProcessorTest, AsksBothQuestionsOfEachDigit) {
  const auto examples = all_examples(3);
  ASSERT_EQ(examples.size(), 6U);
  for (std::size_t digit = 0; digit < 3; ++digit) {
    for (const Question question : kQuestions) {
      EXPECT_EQ(std::count_if(examples.begin(), examples.end(),
                              [&](const Example& example) {
                                return example.digit == digit && example.question == question;
                              }),
                1);
    }
  }
}

TEST(ShardTest, EachRowIsTakenOnceInAnEpochByOneRank) {
  for (const std::size_t rows : {7U, 64U, 65U, 2876U}) {
    for (const std::size_t steps : {1U, 3U, 7U}) {
      for (const std::size_t ranks : {1U, 2U, 3U, 8U}) {
        std::vector<int> taken(rows, 0);
        for (std::size_t step = 0; step < steps; ++step) {
          for (std::size_t rank = 0; rank < ranks; ++rank) {
            const Slice mine = part_of(part_of({0, rows}, step, steps), rank, ranks);
            for (std::size_t row = mine.begin; row < mine.end; ++row) ++taken[row];
          }
        }
        EXPECT_THAT(taken, testing::Each(1)) << rows << " " << steps << " " << ranks;
      }
    }
  }
}

TEST(ShardTest, PartsDifferByOneAtMost) {
  for (std::size_t part = 0; part < 7; ++part) {
    EXPECT_THAT(part_of({5, 5 + 25}, part, 7).size(), testing::AnyOf(3U, 4U));
  }
}

}  // namespace
}  // namespace models::multimodal
