// Reading and splitting of sequences, and their batches.
#include "sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <string_view>
#include <unordered_map>

#include "common/shuffled.h"
#include "common/usage_error.h"

namespace models {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const auto comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

// What the first line says is to come.
struct Header {
  std::size_t rows;
  std::array<std::string, 2> class_names;
};

Header parse_header(const std::string& where, std::string_view line) {
  const auto fields = fields_of(line);
  std::size_t rows = 0;
  bool well_formed = fields.size() == 4 && fields[1] == "1";
  if (well_formed) {
    const auto [end, error] =
        std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), rows);
    well_formed = error == std::errc() && end == fields[0].data() + fields[0].size();
  }
  if (!well_formed) {
    throw UsageError(fmt::format(
        "{}:1: not a header; accepted: ROWS,1,CLASS,CLASS such as 5200,1,UniProt,AMP", where));
  }
  return {rows, {std::string(fields[2]), std::string(fields[3])}};
}

// `line_number` is the one an editor shows; row 1 stands on line 2.
Sequence parse_row(const std::string& where, std::size_t line_number, std::string_view line) {
  const std::string place = fmt::format("{}:{}: row {}", where, line_number, line_number - 1);
  const auto fields = fields_of(line);
  if (fields.size() != 2 || fields[0].empty()) {
    throw UsageError(fmt::format("{}: accepted: SEQUENCE, LABEL", place));
  }
  const std::string_view residues = fields[0];
  if (const auto wrong = residues.find_first_not_of(kResidues); wrong != std::string_view::npos) {
    const auto column = static_cast<std::size_t>(residues.data() - line.data()) + wrong + 1;
    const auto letter = static_cast<unsigned char>(residues[wrong]);
    const std::string shown = std::isprint(letter) ? fmt::format("'{}'", residues[wrong])
                                                   : fmt::format("byte {:#04x}", letter);
    throw UsageError(fmt::format("{}, column {}: {} is not an amino acid; accepted: {}", place,
                                 column, shown, kResidues));
  }
  if (residues.size() > kMaxLength) {
    throw UsageError(
        fmt::format("{}: {} letters; accepted: up to {}", place, residues.size(), kMaxLength));
  }
  if (fields[1] != "0" && fields[1] != "1") {
    throw UsageError(fmt::format("{}: the label is '{}'; accepted: 0 or 1", place, fields[1]));
  }
  return {std::string(residues), fields[1] == "1" ? 1 : 0};
}

}  // namespace

Dataset read_dataset(const std::filesystem::path& path) {
  const std::string where = path.string();
  std::ifstream file(path);
  if (!file || !std::filesystem::is_regular_file(path)) {
    throw UsageError(fmt::format("{}: no such file, or not one that can be read", where));
  }
  std::string line;
  std::getline(file, line);
  const Header header = parse_header(where, line);
  Dataset dataset{header.class_names, {}};
  for (std::size_t line_number = 2; std::getline(file, line); ++line_number) {
    if (!trimmed(line).empty()) {
      dataset.sequences.push_back(parse_row(where, line_number, line));
    }
  }
  if (dataset.sequences.size() != header.rows) {
    throw UsageError(fmt::format("{}: the first line says {} rows, there are {}", where,
                                 header.rows, dataset.sequences.size()));
  }
  return dataset;
}

Split split_by_sequence(const Dataset& dataset, std::uint64_t seed) {
  constexpr std::size_t kParts = 5;
  // Distinct sequences of each class, in the order of the file.
  std::array<std::vector<std::string_view>, 2> distinct;
  std::unordered_map<std::string_view, bool> is_held_out;
  for (const Sequence& sequence : dataset.sequences) {
    if (is_held_out.emplace(sequence.residues, false).second) {
      distinct[static_cast<std::size_t>(sequence.label)].push_back(sequence.residues);
    }
  }
  for (std::size_t label = 0; label < distinct.size(); ++label) {
    const auto& sequences = distinct[label];
    if (sequences.size() < kParts) {
      throw UsageError(fmt::format("class {} has {} distinct sequences; at least {} are needed",
                                   dataset.class_names[label], sequences.size(), kParts));
    }
    const auto order = shuffled(sequences.size(), seed);
    for (std::size_t i = 0; i < sequences.size() / kParts; ++i) {
      is_held_out[sequences[order[i]]] = true;
    }
  }
  Split split;
  for (const Sequence& sequence : dataset.sequences) {
    (is_held_out[sequence.residues] ? split.held_out : split.train).push_back(sequence);
  }
  return split;
}

std::vector<std::size_t> epoch_order(const std::vector<Sequence>& sequences, std::size_t batch,
                                     std::uint64_t seed) {
  constexpr std::size_t kBatchesSorted = 16;  // together: few enough to leave chance its part
  std::vector<std::size_t> order = shuffled(sequences.size(), seed);
  const std::size_t run = batch * kBatchesSorted;
  for (std::size_t begin = 0; begin < order.size(); begin += run) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        order.begin() + static_cast<std::ptrdiff_t>(std::min(begin + run, order.size()));
    std::stable_sort(first, last, [&](std::size_t a, std::size_t b) {
      return sequences[a].residues.size() < sequences[b].residues.size();
    });
  }
  // The full batches in an order by chance, so that short ones don't always come first; then the
  // rest.
  std::vector<std::size_t> result;
  for (const std::size_t index : shuffled(order.size() / batch, seed)) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(index * batch);
    result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(batch));
  }
  result.insert(result.end(), order.begin() + static_cast<std::ptrdiff_t>(result.size()),
                order.end());
  return result;
}

Batch make_batch(const std::vector<Sequence>& sequences, const std::vector<std::size_t>& order,
                 std::size_t begin, std::size_t end) {
  std::size_t longest = 0;
  for (std::size_t i = begin; i < end; ++i) {
    longest = std::max(longest, sequences[order[i]].residues.size());
  }
  const auto rows = static_cast<std::int64_t>(end - begin);
  const auto length = static_cast<std::int64_t>(longest) + 1;
  Batch batch{torch::full({rows, length}, kPadding, torch::kLong), torch::empty({rows})};
  auto ids = batch.input_ids.accessor<std::int64_t, 2>();
  auto labels = batch.labels.accessor<float, 1>();
  for (std::int64_t row = 0; row < rows; ++row) {
    const Sequence& sequence = sequences[order[begin + static_cast<std::size_t>(row)]];
    std::int64_t position = 0;
    for (const char residue : sequence.residues) {
      ids[row][position++] = kFirstResidue + static_cast<std::int64_t>(kResidues.find(residue));
    }
    ids[row][position] = kEnd;
    labels[row] = static_cast<float>(sequence.label);
  }
  return batch;
}

}  // namespace models
