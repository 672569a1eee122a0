// A recursive reader of expressions that keeps, of each value, what it is bound to.
//
// Serialised code names every value once (`_3 = torch.add(x, _2)`), so names are enough to follow
// it. Names that are given two kinds of value, in branches, are unknown from then on.
#include "script_code.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "printable.h"
#include "script_lexer.h"

namespace devsan::lint {
namespace {

struct Value {
  enum class Kind {
    kUnknown,
    kNumber,    // a number, text, a list of them: has no device. Tensors without dimensions too
    kFollows,   // is where an input, a parameter or a buffer is
    kPinned,    // is on the CPU, whatever the module is moved to
    kDevice,    // a device that is named
    kDeviceOf,  // a device that is asked for
    kList,
  };

  Kind kind = Kind::kUnknown;
  std::size_t source = 0;  // of kPinned and kDevice: index into what is bound
  std::vector<Value> items;
};

using Kind = Value::Kind;

template <std::size_t Size>
bool is_one_of(std::string_view name, const std::array<std::string_view, Size>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Gives a number, a size, a truth: nothing that has a device.
bool gives_number(std::string_view callee) {
  constexpr std::array<std::string_view, 18> kNames{
      "torch.size",   "torch.len",       "torch.dim",
      "torch.numel",  "torch.item",      "torch.gt",
      "torch.eq",     "torch.ne",        "torch.lt",
      "torch.__is__", "torch.__isnot__", "torch.format",
      "int",          "float",           "bool",
      "str",          "ops.prim.dtype",  "ops.prim.NumToTensor"};
  return is_one_of(callee, kNames);
}

// Takes tensors of any device beside its first: CPU indices, a copy's source.
bool takes_any_device(std::string_view callee) {
  constexpr std::array<std::string_view, 8> kNames{
      "torch.index",  "torch.index_put", "torch.index_put_", "torch.copy_",
      "torch.append", "torch.type_as",   "torch.view_as",    "torch.expand_as"};
  return is_one_of(callee, kNames);
}

class Reader {
 public:
  Reader(std::string_view code, const std::function<bool(std::string_view)>& pinned)
      : tokens_(script_tokens(code)), pinned_(pinned) {}

  std::vector<ScriptDevice> read() {
    while (at_ < tokens_.size()) statement();
    std::vector<ScriptDevice> devices;
    for (const ScriptDevice& one : bound_) {
      const bool accelerator = one.constant.empty() && !is_cpu(one.device) && !one.callee.empty();
      if (accelerator || !one.op.empty()) devices.push_back(one);
    }
    return devices;
  }

 private:
  static bool is_cpu(std::string_view device) { return device == "cpu"; }

  const ScriptToken& token() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }
  bool take(std::string_view sign) {
    if (!token().is(sign)) return false;
    ++at_;
    return true;
  }
  void skip_line() {
    while (token().kind != ScriptToken::Kind::kLineEnd) ++at_;
    ++at_;
  }

  void statement() {
    if (token().is_name("class")) {
      tensors_.clear();
      skip_line();
      return;
    }
    if (token().is_name("def")) {
      signature();
      return;
    }
    for (const std::string_view keyword : {"if", "while", "return", "for", "else", "elif"}) {
      if (!token().is_name(keyword)) continue;
      ++at_;
      if (keyword == "for") at_ += 2;  // `for i in`
      break;
    }
    std::vector<std::string_view> targets = targets_of_line();
    const Value value = expression(0);
    if (targets.size() == 1) assign(targets.front(), value);
    for (std::size_t i = 0; targets.size() > 1 && i < targets.size(); ++i) {
      const Value item = value.items.size() == targets.size() ? value.items[i] : element_of(value);
      assign(targets[i], item);
    }
    skip_line();
  }

  // `a, b, = ` or `a = ` or `a : Tensor` (a declaration); else the place stays where it is.
  std::vector<std::string_view> targets_of_line() {
    const std::size_t begin = at_;
    std::vector<std::string_view> targets;
    while (token().kind == ScriptToken::Kind::kName) {
      targets.push_back(token().text);
      ++at_;
      if (take(":")) {
        if (token().is_name("Tensor")) tensors_.insert(targets.back());
        while (token().kind != ScriptToken::Kind::kLineEnd && !token().is("=")) ++at_;
      }
      if (take("=")) return targets;
      if (!take(",")) break;
      if (take("=")) return targets;
    }
    at_ = begin;
    return {};
  }

  // `def forward(self: __torch__.Net, x: Tensor, n: int=3) -> Tensor:`
  void signature() {
    values_.clear();
    while (token().kind != ScriptToken::Kind::kLineEnd && !token().is("(")) ++at_;
    while (token().kind != ScriptToken::Kind::kLineEnd && !token().is("->")) {
      const ScriptToken& name = token();
      ++at_;
      if (name.kind != ScriptToken::Kind::kName || !take(":")) continue;
      const std::string_view type = token().text;
      Value value;
      if (type == "Tensor") value.kind = Kind::kFollows;
      if (type == "int" || type == "float" || type == "bool") value.kind = Kind::kNumber;
      values_[name.text] = value;
    }
    skip_line();
  }

  void assign(std::string_view name, const Value& value) {
    const auto [entry, is_new] = values_.try_emplace(name, value);
    const bool known = entry->second.kind == Kind::kNumber || entry->second.kind == Kind::kFollows;
    if (!is_new && (!known || entry->second.kind != value.kind)) entry->second = {};
  }

  // What is got out of something by an index or by unpacking.
  static Value element_of(const Value& value) {
    const bool of_tensor = value.kind == Kind::kFollows || value.kind == Kind::kPinned;
    return of_tensor ? value : Value{};
  }

  Value expression(int depth) {
    constexpr int kDeepest = 200;
    if (depth > kDeepest) {
      skip_to_line_end();
      return {};
    }
    Value value = primary(depth);
    while (true) {
      if (token().is("[")) {
        ++at_;
        arguments("]", depth);
        value = element_of(value);
      } else if (token().is("(")) {  // `(self.fc).forward(x, )`, what is called has no name
        ++at_;
        arguments(")", depth);
        value = {};
      } else if (token().kind == ScriptToken::Kind::kName && at_ > 0 && tokens_[at_ - 1].is(")")) {
        ++at_;  // `if`, `else`, `is`, `and`: the other side is read, the value is unknown
        expression(depth + 1);
        value = {};
      } else if (token().is(".")) {  // a method of what is in parentheses
        ++at_;
        value = method(depth);
      } else {
        return value;
      }
    }
  }

  void skip_to_line_end() {
    while (token().kind != ScriptToken::Kind::kLineEnd) ++at_;
  }

  Value primary(int depth) {
    const ScriptToken word = token();
    if (word.kind == ScriptToken::Kind::kLineEnd) return {};
    ++at_;
    if (word.kind == ScriptToken::Kind::kNumber || word.kind == ScriptToken::Kind::kText) {
      return {Kind::kNumber, 0, {}};
    }
    if (word.is("-")) return expression(depth + 1);
    if (word.is("(") || word.is("[") || word.is("{")) {
      const std::string_view close = word.is("(") ? ")" : word.is("[") ? "]" : "}";
      return list(word.is("("), arguments(close, depth));
    }
    if (word.kind != ScriptToken::Kind::kName) return {};
    if (token().is("(")) {
      ++at_;
      return call(word, depth);
    }
    return named(word);
  }

  // Lists stay small and flat, whatever the code has: an operand of each kind is all that ops ask
  // for.
  static Value list(bool in_parentheses, std::vector<Value> items) {
    constexpr std::size_t kMost = 8;
    if (in_parentheses && items.size() == 1) return std::move(items.front());
    Value list{Kind::kList, 0, {}};
    for (Value& item : items) {
      if (item.kind == Kind::kList) item = {};
      const bool known = std::any_of(list.items.begin(), list.items.end(),
                                     [&](const Value& one) { return one.kind == item.kind; });
      if (items.size() <= kMost || !known) list.items.push_back(std::move(item));
    }
    return list;
  }

  Value named(const ScriptToken& word) {
    if (word.text == "None" || word.text == "True" || word.text == "False") {
      return {Kind::kNumber, 0, {}};
    }
    constexpr std::string_view kConstants = "CONSTANTS.";
    if (word.text.starts_with(kConstants)) {
      const std::string_view name = word.text.substr(kConstants.size());
      if (!pinned_(name)) return {Kind::kNumber, 0, {}};
      const auto [entry, is_new] = constants_.try_emplace(name, bound_.size());
      if (is_new) {
        ScriptDevice constant;
        constant.device = "cpu";
        constant.constant = printable(name);
        bind(word.begin, word.end, constant);
      }
      return {Kind::kPinned, entry->second, {}};
    }
    if (const auto entry = values_.find(word.text); entry != values_.end()) return entry->second;
    // `self.weight`
    const std::size_t dot = word.text.rfind('.');
    const bool tensor =
        dot != std::string_view::npos && tensors_.contains(word.text.substr(dot + 1));
    return tensor ? Value{Kind::kFollows, 0, {}} : Value{};
  }

  std::size_t bind(std::size_t begin, std::size_t end, ScriptDevice device) {
    device.begin = begin;
    device.end = end;
    bound_.push_back(std::move(device));
    return bound_.size() - 1;
  }

  // Values up to the closing sign, which is taken. Keywords are read over.
  std::vector<Value> arguments(std::string_view close, int depth) {
    constexpr std::size_t kMost = 1024;
    std::vector<Value> values;
    while (!take(close)) {
      if (token().kind == ScriptToken::Kind::kLineEnd) break;
      if (take(",") || take(":") || take("=")) continue;
      const std::size_t before = at_;
      const bool keyword = token().kind == ScriptToken::Kind::kName && at_ + 1 < tokens_.size() &&
                           tokens_[at_ + 1].is("=");
      if (keyword) at_ += 2;
      Value value = expression(depth + 1);
      if (values.size() < kMost) values.push_back(std::move(value));
      if (at_ == before) ++at_;
    }
    return values;
  }

  Value method(int depth) {
    const ScriptToken word = token();
    if (word.kind != ScriptToken::Kind::kName) return {};
    ++at_;
    if (!take("(")) return {};
    for (const Value& argument : arguments(")", depth)) {
      if (argument.kind == Kind::kFollows) return {Kind::kFollows, 0, {}};
    }
    return {};
  }

  Value call(const ScriptToken& callee, int depth) {
    const std::size_t text = at_;
    std::vector<Value> values = arguments(")", depth);
    const std::size_t end = tokens_[at_ - 1].end;
    if (callee.text == "torch.device") return device(callee.begin, end, text);
    if (callee.text == "ops.prim.device") return {Kind::kDeviceOf, 0, {}};
    if (callee.text == "annotate" || callee.text == "unchecked_cast") {
      return values.size() == 2 ? values[1] : Value{};
    }
    if (callee.text == "torch.cuda") {
      ScriptDevice current;
      current.device = "cuda";
      current.call = callee.begin;
      current.callee = callee.text;
      bind(callee.begin, callee.end, current);
      return {};
    }
    if (gives_number(callee.text)) return {Kind::kNumber, 0, {}};
    if (!callee.text.starts_with("torch.")) return {};
    for (const Value& value : values) {
      if (value.kind == Kind::kDeviceOf) return {Kind::kFollows, 0, {}};
      if (value.kind == Kind::kDevice) return placed(callee, values, value.source);
    }
    if (callee.text == "torch.cpu") return {};
    return op(callee, values);
  }

  Value device(std::size_t begin, std::size_t end, std::size_t first) {
    if (tokens_[first].kind != ScriptToken::Kind::kText) return {};
    ScriptDevice named;
    named.device = printable(tokens_[first].text);
    if (tokens_[first + 1].is(",") && tokens_[first + 2].kind == ScriptToken::Kind::kNumber) {
      named.device += ":" + std::string(tokens_[first + 2].text);
    }
    if (named.device == "meta") return {};
    return {Kind::kDevice, bind(begin, end, named), {}};
  }

  // What a factory or a move to a named device gives.
  Value placed(const ScriptToken& callee, const std::vector<Value>& values, std::size_t source) {
    bound_[source].call = callee.begin;
    bound_[source].callee = printable(callee.text);
    if (!is_cpu(bound_[source].device)) return {};
    const Value& first = values.front();
    const bool moves = callee.text == "torch.to";
    // `torch.tensor(1.)`, `torch.zeros([])`, a moved number
    const bool sized = callee.text != "torch.tensor" && callee.text != "torch.scalar_tensor";
    const bool scalar = moves || !sized ? first.kind == Kind::kNumber
                                        : first.kind == Kind::kList && first.items.empty();
    return scalar ? Value{Kind::kNumber, 0, {}} : Value{Kind::kPinned, source, {}};
  }

  Value op(const ScriptToken& callee, const std::vector<Value>& values) {
    std::vector<Value> operands;
    for (const Value& value : values) {
      if (value.kind == Kind::kList) {
        operands.insert(operands.end(), value.items.begin(), value.items.end());
      } else {
        operands.push_back(value);
      }
    }
    const auto of = [&](Kind kind) {
      return std::find_if(operands.begin(), operands.end(),
                          [kind](const Value& value) { return value.kind == kind; });
    };
    const auto pinned = of(Kind::kPinned);
    const auto follows = of(Kind::kFollows);
    if (takes_any_device(callee.text)) return operands.empty() ? Value{} : operands.front();
    if (pinned != operands.end() && follows != operands.end()) {
      for (const Value& value : operands) {
        if (value.kind == Kind::kPinned) meet(bound_[value.source], callee);
      }
      return *follows;
    }
    if (follows != operands.end()) return *follows;
    if (pinned != operands.end()) return of(Kind::kUnknown) == operands.end() ? *pinned : Value{};
    return {};
  }

  static void meet(ScriptDevice& device, const ScriptToken& op) {
    if (!device.op.empty()) return;
    device.use = ScriptUse::kMeets;
    device.meeting = op.begin;
    device.op = printable(op.text);
  }

  std::vector<ScriptToken> tokens_;
  const std::function<bool(std::string_view)>& pinned_;
  std::size_t at_ = 0;
  std::map<std::string_view, Value> values_;
  std::set<std::string_view> tensors_;  // attributes of the class that are declared as tensors
  std::vector<ScriptDevice> bound_;
  std::map<std::string_view, std::size_t> constants_;  // in bound_
};

}  // namespace

std::vector<ScriptDevice> script_devices(std::string_view code,
                                         const std::function<bool(std::string_view)>& pinned) {
  return Reader(code, pinned).read();
}

}  // namespace devsan::lint
