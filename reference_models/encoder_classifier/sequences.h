// Labelled protein sequences: read from a file, split for training, turned into batches of tokens.
#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace models {

// The twenty amino acids. Tokens are 0 for padding, 1 for the end of a sequence (as T5 has them),
// then these in order.
inline constexpr std::string_view kResidues = "ACDEFGHIKLMNPQRSTVWY";
inline constexpr std::int64_t kPadding = 0;
inline constexpr std::int64_t kEnd = 1;
inline constexpr std::int64_t kFirstResidue = 2;
inline constexpr std::int64_t kVocabulary = kFirstResidue + std::int64_t{kResidues.size()};

// Attention takes length² memory; no peptide comes near.
inline constexpr std::size_t kMaxLength = 1024;

struct Sequence {
  std::string residues;
  int label;  // 0 or 1
};

struct Dataset {
  std::array<std::string, 2> class_names;
  std::vector<Sequence> sequences;
};

// Reads a file whose first line is "rows,1,name of class 0,name of class 1" and whose other lines
// are "SEQUENCE, LABEL". Throws UsageError with file, line and what is accepted.
Dataset read_dataset(const std::filesystem::path& path);

struct Split {
  std::vector<Sequence> train;
  std::vector<Sequence> held_out;
};

// Holds out a fifth of the distinct sequences of each class, with all their rows: no sequence is on
// both sides. A sequence that stands under both labels counts for the class of its first row. The
// same seed gives the same split on every machine. Throws UsageError when a class has fewer than
// five.
Split split_by_sequence(const Dataset& dataset, std::uint64_t seed);

// One epoch's order of the sequences for batches of `batch`: shuffled, but so that a batch holds
// sequences of like length. Padding would otherwise be most of the work: the longest peptide of 32
// is three times the mean.
std::vector<std::size_t> epoch_order(const std::vector<Sequence>& sequences, std::size_t batch,
                                     std::uint64_t seed);

struct Batch {
  torch::Tensor input_ids;  // int64 [batch, length], on the CPU
  torch::Tensor labels;     // float [batch], on the CPU
};

// Tokens of the sequences order[begin] … order[end - 1], each closed by kEnd and padded to the
// longest.
Batch make_batch(const std::vector<Sequence>& sequences, const std::vector<std::size_t>& order,
                 std::size_t begin, std::size_t end);

}  // namespace models
