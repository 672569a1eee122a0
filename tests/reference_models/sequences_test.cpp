// What a data file may be, what is said of one that is wrong, and how sequences are split and
// batched.
#include "encoder_classifier/sequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/usage_error.h"

namespace models {
namespace {

// A file with `text` that is gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("sequences_test." + std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What is said of a file with `text`, the file called FILE.
std::string error_of(const std::string& text) {
  const TemporaryFile file(text);
  try {
    read_dataset(file.path());
  } catch (const UsageError& error) {
    std::string message = error.what();
    const std::string name = file.path().string();
    if (message.starts_with(name)) message.replace(0, name.size(), "FILE");
    return message;
  }
  return "no UsageError";
}

TEST(ReadDataset, ReadsRows) {
  const TemporaryFile file("2,1,UniProt,AMP\r\nACD, 1\r\nWY,0");
  const Dataset dataset = read_dataset(file.path());
  EXPECT_THAT(dataset.class_names, ::testing::ElementsAre("UniProt", "AMP"));
  ASSERT_EQ(dataset.sequences.size(), 2U);
  EXPECT_EQ(dataset.sequences[0].residues, "ACD");
  EXPECT_EQ(dataset.sequences[0].label, 1);
  EXPECT_EQ(dataset.sequences[1].residues, "WY");
  EXPECT_EQ(dataset.sequences[1].label, 0);
}

TEST(ReadDataset, AWrongResidueIsShownWithItsPlace) {
  EXPECT_EQ(error_of("2,1,a,b\nACD, 1\nACBD, 0\n"),
            "FILE:3: row 2, column 3: 'B' is not an amino acid; accepted: ACDEFGHIKLMNPQRSTVWY");
  EXPECT_EQ(error_of("1,1,a,b\n acd, 1\n"),
            "FILE:2: row 1, column 2: 'a' is not an amino acid; accepted: ACDEFGHIKLMNPQRSTVWY");
  EXPECT_EQ(
      error_of("1,1,a,b\nAC\x01, 1\n"),
      "FILE:2: row 1, column 3: byte 0x01 is not an amino acid; accepted: ACDEFGHIKLMNPQRSTVWY");
}

TEST(ReadDataset, AWrongLabelIsShown) {
  EXPECT_EQ(error_of("1,1,a,b\nACD, 2\n"), "FILE:2: row 1: the label is '2'; accepted: 0 or 1");
  EXPECT_EQ(error_of("1,1,a,b\nACD,\n"), "FILE:2: row 1: the label is ''; accepted: 0 or 1");
}

TEST(ReadDataset, AWrongRowIsShown) {
  EXPECT_EQ(error_of("1,1,a,b\nACD\n"), "FILE:2: row 1: accepted: SEQUENCE, LABEL");
  EXPECT_EQ(error_of("1,1,a,b\n, 1\n"), "FILE:2: row 1: accepted: SEQUENCE, LABEL");
  EXPECT_EQ(error_of("1,1,a,b\nACD, 1, 0\n"), "FILE:2: row 1: accepted: SEQUENCE, LABEL");
  EXPECT_EQ(error_of("1,1,a,b\n" + std::string(1025, 'A') + ", 1\n"),
            "FILE:2: row 1: 1025 letters; accepted: up to 1024");
}

TEST(ReadDataset, AWrongHeaderIsShown) {
  const std::string message =
      "FILE:1: not a header; accepted: ROWS,1,CLASS,CLASS such as 5200,1,UniProt,AMP";
  for (const char* text : {"", "ACD, 1\n", "x,1,a,b\n", "1,2,a,b\n", "1,1,a\n", "1,1,a,b,c\n"}) {
    EXPECT_EQ(error_of(text), message) << text;
  }
}

TEST(ReadDataset, AFileThatEndsEarlyIsRefused) {
  EXPECT_EQ(error_of("3,1,a,b\nACD, 1\nWY, 0\n"), "FILE: the first line says 3 rows, there are 2");
}

TEST(ReadDataset, AFolderAndAnAbsentFileAreRefused) {
  EXPECT_THROW(read_dataset("/"), UsageError);
  EXPECT_THROW(read_dataset("/no/such/file"), UsageError);
}

// `count` distinct sequences a class, the first of each class three times, and one sequence with
// both labels.
Dataset sample(std::size_t count) {
  Dataset dataset{{"a", "b"}, {}};
  for (const int label : {0, 1}) {
    for (std::size_t i = 0; i < count; ++i) {
      std::string residues(1, label == 0 ? 'A' : 'C');
      for (std::size_t rest = i; rest > 0; rest /= 20) residues += kResidues[rest % 20];
      dataset.sequences.push_back({residues, label});
      if (i == 0) dataset.sequences.insert(dataset.sequences.end(), 2, {residues, label});
    }
  }
  dataset.sequences.push_back({"WWWW", 0});
  dataset.sequences.push_back({"WWWW", 1});
  return dataset;
}

std::set<std::string> distinct(const std::vector<Sequence>& sequences) {
  std::set<std::string> result;
  for (const Sequence& sequence : sequences) result.insert(sequence.residues);
  return result;
}

TEST(SplitBySequence, NoSequenceIsOnBothSides) {
  const Dataset dataset = sample(100);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Split split = split_by_sequence(dataset, seed);
    EXPECT_EQ(split.train.size() + split.held_out.size(), dataset.sequences.size());
    const auto train = distinct(split.train);
    for (const std::string& residues : distinct(split.held_out))
      EXPECT_FALSE(train.contains(residues));
  }
}

TEST(SplitBySequence, AFifthOfEachClassIsHeldOut) {
  std::array<std::set<std::string>, 2> held_out;
  for (const Sequence& sequence : split_by_sequence(sample(100), 0).held_out) {
    if (sequence.residues != "WWWW")
      held_out[static_cast<std::size_t>(sequence.label)].insert(sequence.residues);
  }
  EXPECT_GE(held_out[0].size() + 1, 20U);  // WWWW, first seen in this class, may be one of them
  EXPECT_LE(held_out[0].size(), 20U);
  EXPECT_EQ(held_out[1].size(), 20U);
}

TEST(SplitBySequence, TheSeedDecides) {
  const Dataset dataset = sample(100);
  EXPECT_EQ(distinct(split_by_sequence(dataset, 3).held_out),
            distinct(split_by_sequence(dataset, 3).held_out));
  EXPECT_NE(distinct(split_by_sequence(dataset, 3).held_out),
            distinct(split_by_sequence(dataset, 4).held_out));
}

TEST(SplitBySequence, AClassThatIsTooSmallIsNamed) {
  Dataset dataset = sample(5);
  std::erase_if(dataset.sequences, [](const Sequence& sequence) { return sequence.label == 1; });
  try {
    split_by_sequence(dataset, 0);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "class b has 0 distinct sequences; at least 5 are needed");
  }
}

TEST(EpochOrder, HoldsEverySequenceOnce) {
  const auto sequences = sample(103).sequences;
  auto order = epoch_order(sequences, 8, 1);
  std::sort(order.begin(), order.end());
  ASSERT_EQ(order.size(), sequences.size());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
}

TEST(EpochOrder, BatchesAreOfLikeLength) {
  std::vector<Sequence> sequences;
  for (std::size_t i = 0; i < 128; ++i)
    sequences.push_back({std::string(i * 37 % 128 + 1, 'A'), 0});
  const auto order = epoch_order(sequences, 8, 1);  // 16 batches: sorted as one
  for (std::size_t begin = 0; begin < order.size(); begin += 8) {
    std::set<std::size_t> lengths;
    for (std::size_t i = begin; i < begin + 8; ++i)
      lengths.insert(sequences[order[i]].residues.size());
    EXPECT_EQ(*lengths.rbegin() - *lengths.begin(), 7U);
  }
}

TEST(EpochOrder, TheSeedDecides) {
  const auto sequences = sample(50).sequences;
  EXPECT_EQ(epoch_order(sequences, 8, 1), epoch_order(sequences, 8, 1));
  EXPECT_NE(epoch_order(sequences, 8, 1), epoch_order(sequences, 8, 2));
}

TEST(MakeBatch, EndsEachSequenceAndPads) {
  const std::vector<Sequence> sequences{{"ACY", 1}, {"D", 0}, {"WWWWWW", 0}};
  const Batch batch = make_batch(sequences, {1, 0, 2}, 0, 2);
  EXPECT_TRUE(
      torch::equal(batch.input_ids, torch::tensor({{4, 1, 0, 0}, {2, 3, 21, 1}}, torch::kLong)));
  EXPECT_TRUE(torch::equal(batch.labels, torch::tensor({0.0F, 1.0F})));
}

}  // namespace
}  // namespace models
