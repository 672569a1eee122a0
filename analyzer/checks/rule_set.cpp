// The list of rules that front ends take, in clang-tidy's manner.
#include "rule_set.h"

#include <array>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/GlobPattern.h"

namespace devsan::lint {
namespace {

struct Entry {
  llvm::StringRef name;
  bool RuleSet::* on;
  bool opt_in;
};

constexpr std::array<Entry, 20> kEntries{{
    {"devsan-asymmetric-move", &RuleSet::asymmetric_move, false},
    {"devsan-asymmetric-move-unproven", &RuleSet::asymmetric_move_unproven, true},
    {"devsan-collective-device", &RuleSet::collective_device, false},
    {"devsan-dropped-move", &RuleSet::dropped_move, false},
    {"devsan-factory-without-device", &RuleSet::factory_without_device, false},
    {"devsan-frozen-device", &RuleSet::frozen_device, false},
    {"devsan-hard-coded-device", &RuleSet::hard_coded_device, false},
    {"devsan-hard-coded-device-setup", &RuleSet::hard_coded_device_set_up, true},
    {"devsan-hidden-sync", &RuleSet::hidden_sync, false},
    {"devsan-hidden-sync-unproven", &RuleSet::hidden_sync_unproven, true},
    {"devsan-load-without-device", &RuleSet::load_without_device, false},
    {"devsan-missing-device-guard", &RuleSet::missing_device_guard, false},
    {"devsan-mixed-devices", &RuleSet::mixed_devices, false},
    {"devsan-module-move-in-forward", &RuleSet::module_move_in_forward, false},
    {"devsan-optimizer-placement", &RuleSet::optimizer_placement, false},
    {"devsan-raw-pointer-space", &RuleSet::raw_pointer_space, false},
    {"devsan-replica-device", &RuleSet::replica_device, false},
    {"devsan-stale-device-cache", &RuleSet::stale_device_cache, false},
    {"devsan-unmoved-tensor", &RuleSet::unmoved_tensor, false},
    {"devsan-unregistered-member", &RuleSet::unregistered_member, false},
}};

[[noreturn]] void reject(llvm::StringRef item) {
  std::string names;
  for (const Entry& entry : kEntries) names += " " + entry.name.str();
  throw std::invalid_argument("no rule matches '" + item.str() + "'; accepted:" + names +
                              ", each with '-' before it, and '*'");
}

}  // namespace

bool RuleSet::runs(std::string_view rule) const {
  llvm::StringRef name = rule;
  name.consume_front("devsan-");
  for (const Entry& entry : kEntries) {
    if (entry.name.drop_front(llvm::StringRef("devsan-").size()) == name) return this->*entry.on;
  }
  return true;
}

std::string RuleSet::names() const {
  std::string names;
  for (const Entry& entry : kEntries) {
    if (this->*entry.on) names += entry.name.str() + " ";
  }
  return names;
}

RuleSet RuleSet::parse(std::string_view list) {
  RuleSet rules;
  llvm::SmallVector<llvm::StringRef, 8> items;
  llvm::StringRef(list).split(items, ',', -1, false);
  for (const llvm::StringRef item : items) {
    llvm::StringRef glob = item.trim();
    const bool on = !glob.consume_front("-");
    auto pattern = llvm::GlobPattern::create(glob);
    if (!pattern) {
      llvm::consumeError(pattern.takeError());
      reject(item);
    }
    bool any = false;
    for (const Entry& entry : kEntries) {
      const bool meant = on && entry.opt_in ? entry.name == glob : pattern->match(entry.name);
      if (meant) rules.*entry.on = on;
      any |= meant;
    }
    if (!any) reject(item);
  }
  return rules;
}

}  // namespace devsan::lint
