// Reads what torch's source_range_serialization.cpp writes: ("FORMAT_WITH_STRING_TABLE", texts,
// ((offset, (((indices of lines), index of file, first line), begin, end), tag), ...)).
#include "script_origins.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "pickle.h"
#include "printable.h"

namespace devsan::lint {
namespace {

using Kind = PickleValue::Kind;

// The items of a tuple or list of at least `least`; of a call `build_intlist([...])` those of the
// list. Null for anything else.
const std::vector<std::uint32_t>* items_of(const PickleValue& value, const Pickle& pickle,
                                           std::size_t least) {
  if (value.kind == Kind::kCall && value.items.size() == 2) {
    const PickleValue& arguments = pickle[value.items[1]];
    if (arguments.kind != Kind::kTuple || arguments.items.size() != 1) return nullptr;
    const PickleValue& list = pickle[arguments.items[0]];
    return list.kind == Kind::kList && list.items.size() >= least ? &list.items : nullptr;
  }
  const bool several = value.kind == Kind::kTuple || value.kind == Kind::kList;
  return several && value.items.size() >= least ? &value.items : nullptr;
}

// A trace's "text" is its stack, innermost first: `/home/me/model.py(22): forward`.
std::optional<ScriptOrigin> frame_of(std::string_view text) {
  const std::size_t end = text.find("): ");
  const std::size_t begin = text.substr(0, end).rfind('(');
  if (end == std::string_view::npos || begin == std::string_view::npos) return std::nullopt;
  ScriptOrigin origin;
  const auto [last, error] =
      std::from_chars(text.data() + begin + 1, text.data() + end, origin.line);
  if (error != std::errc() || last != text.data() + end) return std::nullopt;
  origin.file = printable(text.substr(0, begin), 4096);
  return origin;
}

class Reader {
 public:
  explicit Reader(const Pickle& pickle) : pickle_(pickle) {}

  bool read_texts(const PickleValue& texts) {
    const auto* items = items_of(texts, pickle_, 1);
    if (items == nullptr) return false;
    for (const std::uint32_t item : *items) texts_.push_back(pickle_[item].text);
    return true;
  }

  std::optional<ScriptOrigin> origin(const PickleValue& range) const {
    const auto* parts = items_of(range, pickle_, 3);
    if (parts == nullptr) return std::nullopt;
    const auto* source = items_of(pickle_[(*parts)[0]], pickle_, 3);
    if (source == nullptr) return std::nullopt;
    const auto* lines = items_of(pickle_[(*source)[0]], pickle_, 1);
    const std::string_view file = text(pickle_[(*source)[1]].number);
    if (lines == nullptr || file.empty()) return std::nullopt;
    if (const auto frame = frame_of(text(pickle_[lines->front()].number))) return frame;
    ScriptOrigin origin;
    origin.file = printable(file, 4096);
    std::int64_t line = pickle_[(*source)[2]].number;
    std::int64_t left = pickle_[(*parts)[1]].number;
    for (const std::uint32_t one : *lines) {
      const auto length = static_cast<std::int64_t>(text(pickle_[one].number).size());
      if (left < length) break;
      left -= length;
      ++line;
    }
    origin.line = static_cast<int>(line);
    return origin;
  }

 private:
  std::string_view text(std::int64_t index) const {
    const bool there = index >= 0 && static_cast<std::size_t>(index) < texts_.size();
    return there ? texts_[static_cast<std::size_t>(index)] : std::string_view();
  }

  const Pickle& pickle_;
  std::vector<std::string_view> texts_;
};

}  // namespace

ScriptOrigins::ScriptOrigins(const Pickle& ranges) {
  const auto* parts = items_of(ranges.root(), ranges, 3);
  Reader reader(ranges);
  if (parts == nullptr || ranges[(*parts)[0]].text != "FORMAT_WITH_STRING_TABLE" ||
      !reader.read_texts(ranges[(*parts)[1]])) {
    return;
  }
  const auto* all = items_of(ranges[(*parts)[2]], ranges, 1);
  if (all == nullptr) return;
  for (const std::uint32_t item : *all) {
    const auto* one = items_of(ranges[item], ranges, 2);
    if (one == nullptr) continue;
    // A range without a file of its own ends the one before it.
    const auto offset =
        static_cast<std::size_t>(std::max<std::int64_t>(0, ranges[(*one)[0]].number));
    ranges_.push_back({offset, reader.origin(ranges[(*one)[1]]).value_or(ScriptOrigin())});
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.offset < b.offset; });
}

std::optional<ScriptOrigin> ScriptOrigins::at(std::size_t offset) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), offset,
                       [](std::size_t value, const Range& range) { return value < range.offset; });
  if (after == ranges_.begin()) return std::nullopt;
  const ScriptOrigin& origin = std::prev(after)->origin;
  return origin.file.empty() ? std::nullopt : std::optional(origin);
}

}  // namespace devsan::lint
