// Two walks over the calls: up to who exposes a function, down to what launches for it.
#include "guard_callers.h"

namespace devsan::lint {

void GuardCallers::add(const GuardFacts& facts) {
  for (const GuardFacts::Call& call : facts.calls) {
    called_.insert(call.callee);
    if (call.guarded) continue;
    unguarded_callees_[call.caller].insert(call.callee);
    unguarded_callers_[call.callee].insert(call.caller);
  }
  facts_.users.insert(facts.users.begin(), facts.users.end());
  facts_.tensorless.insert(facts.tensorless.begin(), facts.tensorless.end());
  facts_.handed_on.insert(facts.handed_on.begin(), facts.handed_on.end());
  facts_.local.insert(facts.local.begin(), facts.local.end());
}

bool GuardCallers::launches(const std::string& function) const {
  std::set<std::string> asked;
  return launches(function, asked);
}

bool GuardCallers::launches(const std::string& function, std::set<std::string>& asked) const {
  if (!facts_.tensorless.contains(function) || !asked.insert(function).second) return false;
  if (facts_.users.contains(function)) return true;
  const auto callees = unguarded_callees_.find(function);
  if (callees == unguarded_callees_.end()) return false;
  for (const std::string& callee : callees->second) {
    if (launches(callee, asked)) return true;
  }
  return false;
}

bool GuardCallers::is_exposed(const std::string& function) const {
  return is_exposed(function, {});
}

bool GuardCallers::is_exposed(const std::string& function,
                              const std::set<std::string>& mended) const {
  std::set<std::string> asked = mended;  // no way in leads through them
  asked.erase(function);
  return reaches_caller(function, asked);
}

bool GuardCallers::reaches_caller(const std::string& function, std::set<std::string>& asked) const {
  if (!asked.insert(function).second) return false;  // recursion adds no way in
  if (facts_.handed_on.contains(function)) return true;
  // Of what a header declares and nothing here calls, the callers were not seen.
  if (!called_.contains(function)) return facts_.local.contains(function);
  const auto callers = unguarded_callers_.find(function);
  if (callers == unguarded_callers_.end()) return false;
  for (const std::string& caller : callers->second) {
    if (reaches_caller(caller, asked)) return true;
  }
  return false;
}

}  // namespace devsan::lint
