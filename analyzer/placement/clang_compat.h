// What LLVM 22 has and LLVM 19 has not: the analyzer is written for the first and built with both.
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"

namespace devsan::lint {

#if LLVM_VERSION_MAJOR >= 22
using llvm::StringSwitch;
#else
// Cases of one value as a list.
template <class Value>
class StringSwitch {
 public:
  explicit StringSwitch(llvm::StringRef text) : text_(text) {}

  StringSwitch& Case(llvm::StringRef literal, Value value) {
    if (!value_ && text_ == literal) value_ = std::move(value);
    return *this;
  }
  StringSwitch& Cases(std::initializer_list<llvm::StringRef> literals, Value value) {
    for (const llvm::StringRef literal : literals) Case(literal, value);
    return *this;
  }
  Value Default(Value value) const { return value_ ? *value_ : value; }

 private:
  llvm::StringRef text_;
  std::optional<Value> value_;
};
#endif

}  // namespace devsan::lint
