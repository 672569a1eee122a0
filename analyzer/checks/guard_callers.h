// Whether what calls a function has set the device before: asked of one translation unit, or of all
// of a run together.
//
// Knows nothing of clang: the facts outlive the translation unit they come from.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>

namespace devsan::lint {

// Functions are known by clang's USR.
struct GuardFacts {
  struct Call {
    std::string caller;
    std::string callee;
    bool guarded = false;

    auto operator<=>(const Call&) const = default;
  };

  std::set<Call> calls;
  std::set<std::string> users;       // work on the current device with no guard before it
  std::set<std::string> tensorless;  // take no tensor that could say which device it should be
  std::set<std::string> handed_on;   // registered or bound: whoever calls them is not seen
  std::set<std::string> local;       // declared in one file only, so that all callers are in it
};

class GuardCallers {
 public:
  void add(const GuardFacts& facts);

  // True when `function`, or what it calls, works on the current device and cannot know better: no
  // tensor is given to it.
  bool launches(const std::string& function) const;

  // True when a call was seen, or must exist, that no guard stands before.
  bool is_exposed(const std::string& function) const;

  // The same, when each of `mended` is given a guard of its own.
  bool is_exposed(const std::string& function, const std::set<std::string>& mended) const;

 private:
  bool reaches_caller(const std::string& function, std::set<std::string>& asked) const;
  bool launches(const std::string& function, std::set<std::string>& asked) const;

  GuardFacts facts_;
  std::map<std::string, std::set<std::string>> unguarded_callees_;  // by caller
  std::map<std::string, std::set<std::string>> unguarded_callers_;  // by callee
  std::set<std::string> called_;
};

}  // namespace devsan::lint
