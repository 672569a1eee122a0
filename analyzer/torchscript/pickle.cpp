// The opcodes of protocol 2, as a stack machine whose values are nodes of a graph. Each step takes
// bounded memory, and steps are counted.
#include "pickle.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <stdexcept>

namespace devsan::lint {
namespace {

using Item = std::uint32_t;
using Kind = PickleValue::Kind;

constexpr int kMostSteps = 4'000'000;

}  // namespace

class Pickle::Reader {
 public:
  explicit Reader(Pickle& pickle) : pickle_(pickle), bytes_(pickle.bytes_) {}

  Item read() {
    while (step()) {
    }
    if (stack_.size() != 1 || !marks_.empty()) fail("does not end in one value");
    return stack_.back();
  }

 private:
  // False at the end. The letters are pickletools' codes.
  bool step() {
    if (++steps_ > kMostSteps) fail("holds too many values");
    const char opcode = *take(1).data();
    switch (opcode) {
      case '.':  // STOP
        return false;
      case '\x80':  // PROTO
        if (take(1)[0] > 2) fail("has a protocol above 2");
        break;
      case '(':  // MARK
        marks_.push_back(stack_.size());
        break;
      case 'N':  // NONE
        push(Kind::kOther);
        break;
      case '\x88':  // NEWTRUE
      case '\x89':  // NEWFALSE
        push(Kind::kNumber, opcode == '\x88' ? 1 : 0);
        break;
      case 'J':  // BININT
        push(Kind::kNumber, static_cast<std::int32_t>(number(4)));
        break;
      case 'K':  // BININT1
      case 'M':  // BININT2
        push(Kind::kNumber, number(opcode == 'K' ? 1 : 2));
        break;
      case '\x8a':  // LONG1
        long_number();
        break;
      case 'G':  // BINFLOAT
        take(8);
        push(Kind::kOther);
        break;
      case 'X':  // BINUNICODE
        push(Kind::kText, 0, take(static_cast<std::size_t>(number(4))));
        break;
      case 'c':  // GLOBAL
        global();
        break;
      case 'q':  // BINPUT
      case 'r':  // LONG_BINPUT
        memo_[number(opcode == 'q' ? 1 : 4)] = top();
        break;
      case 'h':  // BINGET
      case 'j':  // LONG_BINGET
        from_memo(number(opcode == 'h' ? 1 : 4));
        break;
      default:
        return compose(opcode);
    }
    return true;
  }

  bool compose(char opcode) {
    switch (opcode) {
      case ')':  // EMPTY_TUPLE
        push(Kind::kTuple);
        break;
      case ']':  // EMPTY_LIST
        push(Kind::kList);
        break;
      case '}':  // EMPTY_DICT
        push(Kind::kDict);
        break;
      case 't':  // TUPLE
        push(Kind::kTuple, take_to_mark());
        break;
      case '\x85':  // TUPLE1, TUPLE2, TUPLE3
      case '\x86':
      case '\x87':
        push(Kind::kTuple, pop(static_cast<std::size_t>(opcode - '\x85') + 1));
        break;
      case 'a':  // APPEND
        append(pop(1));
        break;
      case 's':  // SETITEM
        append(pop(2));
        break;
      case 'e':  // APPENDS
      case 'u':  // SETITEMS
        append(take_to_mark());
        break;
      case 'R':     // REDUCE
      case '\x81':  // NEWOBJ
        push(Kind::kCall, pop(2));
        break;
      case 'b':  // BUILD
        append(pop(1));
        break;
      case 'Q':  // BINPERSID
        push(Kind::kStorage, pop(1));
        break;
      default:
        fail(fmt::format("has opcode {:#04x}, which torch.jit.save does not write",
                         static_cast<unsigned char>(opcode)));
    }
    return true;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("the pickle {} (at byte {})", what, at_));
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) fail("is cut off");
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  std::int64_t number(std::size_t width) {  // little-endian
    std::int64_t value = 0;
    const std::string_view digits = take(width);
    for (std::size_t i = width; i-- > 0;) {
      value = (value << 8) | static_cast<unsigned char>(digits[i]);
    }
    return value;
  }

  void long_number() {
    const auto width = static_cast<std::size_t>(number(1));
    if (width <= 7) {
      push(Kind::kNumber, number(width));
    } else {  // hashes and the like: no size or index is as large
      take(width);
      push(Kind::kOther);
    }
  }

  void global() {
    const std::size_t first = bytes_.find('\n', at_);
    const std::size_t second =
        first == std::string_view::npos ? first : bytes_.find('\n', first + 1);
    if (second == std::string_view::npos) fail("is cut off");
    const std::string_view name = bytes_.substr(at_, second - at_);
    at_ = second + 1;
    push(Kind::kGlobal, 0, name);
  }

  void from_memo(std::int64_t index) {
    const auto entry = memo_.find(index);
    if (entry == memo_.end()) fail("refers to a value that it does not have");
    stack_.push_back(entry->second);
  }

  Item top() const {
    if (stack_.empty()) fail("takes a value from an empty stack");
    return stack_.back();
  }

  void push(Kind kind, std::int64_t number = 0, std::string_view text = {}) {
    stack_.push_back(static_cast<Item>(pickle_.values_.size()));
    PickleValue value;
    value.kind = kind;
    value.number = number;
    value.text = text;
    pickle_.values_.push_back(std::move(value));
  }
  void push(Kind kind, std::vector<Item> items) {
    push(kind);
    pickle_.values_.back().items = std::move(items);
  }

  std::vector<Item> pop(std::size_t count) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < floor + count) fail("takes a value from an empty stack");
    std::vector<Item> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }

  std::vector<Item> take_to_mark() {
    if (marks_.empty()) fail("has no mark where one is needed");
    const std::size_t count = stack_.size() - marks_.back();
    std::vector<Item> items = pop(count);
    marks_.pop_back();
    return items;
  }

  // To the list, dict or object that is now on top.
  void append(const std::vector<Item>& items) {
    std::vector<Item>& all = pickle_.values_[top()].items;
    all.insert(all.end(), items.begin(), items.end());
  }

  Pickle& pickle_;
  std::string_view bytes_;
  std::size_t at_ = 0;
  int steps_ = 0;
  std::vector<Item> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::int64_t, Item> memo_;
};

Pickle::Pickle(std::string bytes) : bytes_(std::move(bytes)) {
  root_ = Reader(*this).read();
}

}  // namespace devsan::lint
