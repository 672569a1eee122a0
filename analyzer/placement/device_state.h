// What is known at one point of a function: where its variables are, what its symbols can be.
#pragma once

#include <map>
#include <optional>

#include "clang/AST/Decl.h"
#include "placement.h"

namespace devsan::lint {

// What a symbol can still be.
struct SymbolFacts {
  bool may_be_cpu = true;
  bool may_be_cuda = true;
  // The code itself names a CUDA device for it: not a mere possibility.
  bool cuda_is_meant = false;

  bool operator==(const SymbolFacts&) const = default;
};

// How two values that an op needs on one device stand to each other.
enum class Conflict {
  kNone,
  kPossible,    // one is on the CPU, the other wherever a parameter or a member is
  kCpuAndCuda,  // certain, or certain once the CUDA device that the code names is used
  kTwoCudas,    // certain
};

class DeviceState {
 public:
  // At the beginning of `function`.
  explicit DeviceState(const clang::FunctionDecl* function) : function_(function) {}

  // Where a variable is. What the function began with is on its own symbol, unless it was changed
  // out of sight; other variables that were never set are unknown.
  Placement value(const clang::ValueDecl* variable) const;
  void set(const clang::ValueDecl* variable, Placement placement);
  void forget(const clang::ValueDecl* variable) { set(variable, Placement::unknown()); }
  // A method of the same object may have changed any member.
  void forget_members();

  SymbolFacts facts(const void* symbol) const;
  void set_facts(const void* symbol, const SymbolFacts& facts) { symbols_[symbol] = facts; }

  // Keeps of `placement` what is on CUDA (or is not). False: this cannot be, the path is dead.
  bool assume_cuda(const clang::ValueDecl* variable, Placement placement, bool cuda);

  Conflict conflict(const Placement& a, const Placement& b) const;

  // Where two paths meet. True when this state changed.
  bool join_with(const DeviceState& other);

 private:
  Conflict conflict(const DeviceValue& a, const DeviceValue& b) const;
  // `placement` in the terms of `model`, where this state knows that model's device is the CPU:
  // after `if (x.is_cuda())`, what is made on the CPU in the other branch is where x is.
  Placement in_terms_of(const Placement& placement, const Placement& model) const;
  // Two devices that a variable of type Device may hold become one symbol: all that is moved to the
  // variable is then on the same device.
  Placement choose(const clang::ValueDecl* variable, const Placement& a, const Placement& b,
                   const DeviceState& other);

  const clang::FunctionDecl* function_;
  std::map<const clang::ValueDecl*, Placement> values_;
  std::map<const void*, SymbolFacts> symbols_;
  bool members_unknown_ = false;
};

// What a symbol can be that stands for one of `devices`.
SymbolFacts facts_of_choice(llvm::ArrayRef<DeviceValue> devices, const DeviceState& state);

}  // namespace devsan::lint
