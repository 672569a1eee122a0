// What is known at one point of a function: where its variables are, what its symbols can be.
#pragma once

#include <map>

#include "clang/AST/Decl.h"
#include "placement.h"

namespace devsan::lint {

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
  DeviceState(const clang::FunctionDecl* function, Paths& paths)
      : function_(function), paths_(&paths) {}

  Paths& paths() const { return *paths_; }

  // Where what a path names is. What the function began with is on its own symbol, unless it was
  // changed out of sight; what was never set is unknown.
  Placement value(const Path* path) const;
  void set(const Path* path, Placement placement);
  const std::map<const Path*, Placement>& values() const { return values_; }  // of roots
  void forget(const Path* path) { set(path, Placement::unknown()); }

  // A parameter, or what a lambda captured from around it.
  bool is_given(const clang::ValueDecl* variable) const;

  SymbolFacts facts(const Path* symbol) const;
  void set_facts(const Path* symbol, const SymbolFacts& facts) { symbols_[symbol] = facts; }
  const std::map<const Path*, SymbolFacts>& all_facts() const { return symbols_; }

  // What one of `devices` can be.
  SymbolFacts facts_of(llvm::ArrayRef<DeviceValue> devices) const;

  // Keeps of `placement` what is on CUDA (or is not). False: this cannot be, the path is dead.
  bool assume_cuda(const Path* path, Placement placement, bool cuda);

  Conflict conflict(const Placement& a, const Placement& b) const;

  // What holds where `b`, in the state `other`, meets `a`, in this one. `at` is where it is kept.
  Placement joined(const Path* at, const Placement& a, const Placement& b,
                   const DeviceState& other);

  // Where two paths of control meet. True when this state changed.
  bool join_with(const DeviceState& other);

 private:
  Conflict conflict(const DeviceValue& a, const DeviceValue& b) const;
  // `placement` in the terms of `model`, where this state knows that model's device is the CPU:
  // after `if (x.is_cuda())`, what is made on the CPU in the other branch is where x is.
  Placement in_terms_of(const Placement& placement, const Placement& model) const;
  // Two devices that one variable may name become one symbol: all that is moved to the variable is
  // then on the same device.
  Placement choose(const Path* at, const Placement& a, const Placement& b,
                   const DeviceState& other);
  void join_symbols(const std::map<const Path*, SymbolFacts>& other);

  const clang::FunctionDecl* function_;
  Paths* paths_;
  std::map<const Path*, Placement> values_;  // of roots
  std::map<const Path*, SymbolFacts> symbols_;
};

}  // namespace devsan::lint
