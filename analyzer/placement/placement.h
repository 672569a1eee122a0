// Where a value is, as far as the source tells: the elements of the flow analysis' lattice.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"
#include "path.h"
#include "summary.h"

namespace devsan::lint {

// One device. A symbol stands for a device that is not known but has one source: where a parameter
// or a member was when the function began, or what a choice between devices gave.
struct DeviceValue {
  enum class Kind : unsigned char {
    kCpu,
    kCuda,       // of the thread's current index
    kCudaIndex,  // cuda:index
    kSymbol,
  };

  Kind kind = Kind::kCpu;
  int index = 0;
  const Path* symbol = nullptr;

  static DeviceValue cpu() { return {}; }
  static DeviceValue cuda() { return {Kind::kCuda, 0, nullptr}; }
  static DeviceValue cuda(int index) { return {Kind::kCudaIndex, index, nullptr}; }
  static DeviceValue of(const Path* symbol) { return {Kind::kSymbol, 0, symbol}; }

  bool is_cpu() const { return kind == Kind::kCpu; }
  bool is_cuda() const { return kind == Kind::kCuda || kind == Kind::kCudaIndex; }
  bool is_symbol() const { return kind == Kind::kSymbol; }

  bool operator==(const DeviceValue&) const = default;
  bool operator<(const DeviceValue& other) const {
    if (kind != other.kind) return kind < other.kind;
    return is_symbol() ? *symbol < *other.symbol : index < other.index;
  }
};

// "the CPU", "cuda", "cuda:1". Empty for a symbol.
std::string to_string(const DeviceValue& device);

// Where a tensor, a module, or the contents of a container are; for a c10::Device, TensorOptions
// and the like, which device they name. An object with members has parts: those whose placement is
// not that of the whole.
struct Placement {
  using Parts = std::map<std::string, Placement, std::less<>>;

  bool known = false;       // false: nothing can be said, and nothing is
  bool by_default = false;  // no device was named: what options without one make
  bool names = false;       // a device or options, no tensor
  Rank rank = Rank::kUnknown;
  llvm::SmallVector<DeviceValue, 2> devices;  // one of these; none: an undefined tensor
  const clang::Expr* made = nullptr;          // what put it there: a factory, a move, a call
  // After a branch: the factory that made it on one of the paths, with dimensions, without being
  // told a device.
  const clang::Expr* default_on_a_path = nullptr;
  const clang::Expr* put = nullptr;  // what put it into the container it is in
  // How it came there inside the functions that `made` calls, from the call inwards.
  std::shared_ptr<const std::vector<SummaryStep>> steps;
  std::shared_ptr<const Parts> parts;  // shared by copies, never changed

  static Placement unknown() { return {}; }
  static Placement on(DeviceValue device, const clang::Expr* made = nullptr);
  static Placement undefined();

  // The one device it is on; null when there are several or none.
  const DeviceValue* single() const {
    return known && devices.size() == 1 ? &devices.front() : nullptr;
  }
  bool is_undefined() const { return known && devices.empty(); }

  // Where a member of it is. Of a symbol it is a symbol of its own.
  Placement part(llvm::StringRef step) const;
  void set_part(llvm::StringRef step, Placement placement);

  bool operator==(const Placement& other) const;
};

}  // namespace devsan::lint
