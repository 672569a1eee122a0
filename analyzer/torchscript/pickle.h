// A pickle as a graph of values. Nothing in it is run: a call in it stays the name and the
// arguments of a call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace devsan::lint {

struct PickleValue {
  enum class Kind : unsigned char {
    kOther,   // None, floats, bytes
    kNumber,  // whole numbers, True and False
    kText,
    kTuple,
    kList,
    kDict,     // items: key, value, key, value, ...
    kGlobal,   // text: "torch._utils\n_rebuild_tensor_v2", as the pickle has it
    kCall,     // items: what is called, its arguments, then the state given by BUILD, if any
    kStorage,  // items: the persistent id
  };

  Kind kind = Kind::kOther;
  std::int64_t number = 0;
  std::string_view text;
  std::vector<std::uint32_t> items;  // for Pickle::operator[]; a value may be in many, or in itself
};

class Pickle {
 public:
  // Reads protocol 2, which torch.jit.save writes. Throws std::runtime_error with one line when
  // `bytes` is cut off, is no such pickle, or holds more than some million values.
  explicit Pickle(std::string bytes);
  Pickle(const Pickle&) = delete;  // values refer to the bytes
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& root() const { return values_[root_]; }
  const PickleValue& operator[](std::uint32_t item) const { return values_[item]; }

 private:
  class Reader;

  std::string bytes_;
  std::vector<PickleValue> values_;
  std::uint32_t root_ = 0;
};

}  // namespace devsan::lint
