// What a function does to devices, in the terms of what it is given: what is kept of it, so that
// its callers, in this translation unit or another, need not look into it again.
//
// Knows nothing of clang: summaries outlive the translation unit they come from, are merged over
// those of a run, and are written to caches.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "devsan/findings/finding.h"

namespace devsan::lint {

// What is known of a tensor's dimensions: one without any works beside any device. A value that is
// a parameter's or a member's own has that one's.
enum class Rank : unsigned char { kUnknown, kScalar, kSome, kOfInput };

// What a symbol can still be.
struct SymbolFacts {
  bool may_be_cpu = true;
  bool may_be_cuda = true;
  // The code itself names a CUDA device for it: not a mere possibility.
  bool cuda_is_meant = false;

  bool operator==(const SymbolFacts&) const = default;
};

// A step of a finding's path that lies inside a function that was called.
struct SummaryStep {
  std::string text;
  SourceRange place;

  bool operator==(const SummaryStep&) const = default;
};

// What a function is given, from the caller's side: a parameter by its number, `this`, or a
// variable that a lambda captured by its name; and a member of it: {"0", "inputs", "pixels"},
// {"this", "mean_"}, {"&", "scale"}.
using InputPath = std::vector<std::string>;
inline constexpr char kThisInput[] = "this";
inline constexpr char kCaptured[] = "&";

struct SummaryDevice {
  enum class Kind : unsigned char { kCpu, kCuda, kCudaIndex, kInput, kOwn };

  Kind kind = Kind::kCpu;
  int number = 0;     // of the CUDA device; of a choice that the function made itself
  InputPath input;    // of kInput
  SymbolFacts facts;  // of kOwn

  bool operator==(const SummaryDevice&) const = default;
};

struct SummaryPlacement {
  bool known = false;
  bool by_default = false;
  bool names = false;
  Rank rank = Rank::kUnknown;
  std::vector<SummaryDevice> devices;
  std::vector<SummaryStep> steps;
  std::map<std::string, SummaryPlacement> parts;

  bool operator==(const SummaryPlacement&) const = default;
};

// One side of an op that is reached whenever the function is called and returns.
struct RequiredOperand {
  SummaryPlacement placement;
  InputPath input;   // what the caller gives for it; empty when the function made it
  std::string name;  // as the function spells it
  bool module = false;

  bool operator==(const RequiredOperand&) const = default;
};

// An input whose device the function asked for before it came to the op.
struct InputCondition {
  InputPath input;
  bool cuda = true;

  bool operator==(const InputCondition&) const = default;
};

// Two values that must be on one device.
struct Requirement {
  RequiredOperand first;
  RequiredOperand second;
  std::string op;         // "matmul", "operator+", "forward"
  bool elements = false;  // a CPU tensor without dimensions may stand beside the other
  std::vector<InputCondition> when;
  std::vector<SummaryStep> steps;  // from the function's own line to the op, through its calls

  bool operator==(const Requirement&) const = default;
};

struct FunctionSummary {
  SummaryPlacement result;
  // Where inputs are afterwards that are not where they were: what was moved in place, assigned
  // through a reference, put into a member. Keyed by the input.
  std::map<InputPath, SummaryPlacement> effects;
  std::vector<Requirement> requirements;

  bool operator==(const FunctionSummary&) const = default;
};

// Of a module of which every method was seen.
struct ModuleSummary {
  std::set<std::string> moved_with;  // the members that go where the module is moved

  bool operator==(const ModuleSummary&) const = default;
};

// By what is called the same in every translation unit: clang's USR, and for classes and their
// methods the place of the class, since two programs may each have a `NetImpl`.
struct SummaryTable {
  std::map<std::string, FunctionSummary> functions;
  std::map<std::string, ModuleSummary> modules;

  std::size_t size() const { return functions.size() + modules.size(); }
  bool operator==(const SummaryTable&) const = default;
};

}  // namespace devsan::lint
