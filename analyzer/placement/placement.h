// Where a value is, as far as the source tells: the elements of the flow analysis' lattice.
#pragma once

#include <string>
#include <tuple>

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"

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
  const void* symbol = nullptr;                // a declaration or a `?:`
  const clang::ValueDecl* variable = nullptr;  // when it is a declaration

  static DeviceValue cpu() { return {}; }
  static DeviceValue cuda() { return {Kind::kCuda, 0, nullptr, nullptr}; }
  static DeviceValue cuda(int index) { return {Kind::kCudaIndex, index, nullptr, nullptr}; }
  static DeviceValue of(const clang::ValueDecl* variable) {
    return {Kind::kSymbol, 0, variable, variable};
  }
  static DeviceValue of(const clang::Expr* choice) { return {Kind::kSymbol, 0, choice, nullptr}; }

  bool is_cpu() const { return kind == Kind::kCpu; }
  bool is_cuda() const { return kind == Kind::kCuda || kind == Kind::kCudaIndex; }
  bool is_symbol() const { return kind == Kind::kSymbol; }

  bool operator==(const DeviceValue&) const = default;
  bool operator<(const DeviceValue& other) const {
    return std::tie(kind, index, symbol) < std::tie(other.kind, other.index, other.symbol);
  }
};

// "the CPU", "cuda", "cuda:1". Empty for a symbol.
std::string to_string(const DeviceValue& device);

// What is known of a tensor's dimensions: one without any works beside any device.
enum class Rank : unsigned char { kUnknown, kScalar, kSome };

// Where a tensor, a module, or the contents of a container are; for a c10::Device, TensorOptions
// and the like, which device they name.
struct Placement {
  bool known = false;                         // false: nothing can be said, and nothing is
  llvm::SmallVector<DeviceValue, 2> devices;  // one of these; none: an undefined tensor
  Rank rank = Rank::kUnknown;
  bool by_default = false;            // no device was named: options without one, what they make
  const clang::Expr* made = nullptr;  // what put it there: a factory, a move
  // After a branch: the factory that made it on one of the paths, with dimensions, without being
  // told a device.
  const clang::Expr* default_on_a_path = nullptr;
  const clang::Expr* put = nullptr;  // what put it into the container it is in

  static Placement unknown() { return {}; }
  static Placement on(DeviceValue device, const clang::Expr* made = nullptr);
  static Placement undefined();

  // The one device it is on; null when there are several or none.
  const DeviceValue* single() const {
    return known && devices.size() == 1 ? &devices.front() : nullptr;
  }

  bool operator==(const Placement& other) const {
    return known == other.known && devices == other.devices && rank == other.rank &&
           by_default == other.by_default;
  }
};

// What holds where two paths meet.
Placement join(const Placement& a, const Placement& b);

}  // namespace devsan::lint
