// Look-ups, joins, and the question that all flow rules ask: do these two agree?
#include "device_state.h"

#include <algorithm>
#include <set>

#include "clang/AST/DeclCXX.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

bool names_device(const clang::ValueDecl* variable) {
  const clang::QualType type = variable->getType();
  return is_device(type) || is_device_type(type) || is_optional_device(type) ||
         is_tensor_options(type);
}

}  // namespace

Placement DeviceState::value(const clang::ValueDecl* variable) const {
  if (variable == nullptr) return Placement::unknown();
  const auto entry = values_.find(variable);
  if (entry != values_.end()) return entry->second;
  if (llvm::isa<clang::FieldDecl>(variable)) {
    return members_unknown_ ? Placement::unknown() : Placement::on(DeviceValue::of(variable));
  }
  const bool given =
      llvm::isa<clang::ParmVarDecl>(variable) && variable->getDeclContext() == function_;
  return given ? Placement::on(DeviceValue::of(variable)) : Placement::unknown();
}

void DeviceState::set(const clang::ValueDecl* variable, Placement placement) {
  if (variable != nullptr) values_[variable] = std::move(placement);
}

void DeviceState::forget_members() {
  members_unknown_ = true;
  std::erase_if(values_,
                [](const auto& entry) { return llvm::isa<clang::FieldDecl>(entry.first); });
}

SymbolFacts DeviceState::facts(const void* symbol) const {
  const auto entry = symbols_.find(symbol);
  return entry == symbols_.end() ? SymbolFacts{} : entry->second;
}

bool DeviceState::assume_cuda(const clang::ValueDecl* variable, Placement placement, bool cuda) {
  if (!placement.known || placement.devices.empty()) return true;
  if (const DeviceValue* device = placement.single(); device != nullptr && device->is_symbol()) {
    SymbolFacts facts = this->facts(device->symbol);
    if (!(cuda ? facts.may_be_cuda : facts.may_be_cpu)) return false;
    (cuda ? facts.may_be_cpu : facts.may_be_cuda) = false;
    set_facts(device->symbol, facts);
    return true;
  }
  llvm::erase_if(placement.devices, [cuda](const DeviceValue& device) {
    return !device.is_symbol() && device.is_cuda() != cuda;
  });
  if (placement.devices.empty()) return false;
  set(variable, std::move(placement));
  return true;
}

Conflict DeviceState::conflict(const DeviceValue& a, const DeviceValue& b) const {
  if (a == b) return Conflict::kNone;
  if (b.is_symbol() && !a.is_symbol()) return conflict(b, a);
  if (a.is_symbol()) {
    if (b.is_symbol()) return Conflict::kNone;
    const SymbolFacts facts = this->facts(a.symbol);
    if (b.is_cuda()) return facts.may_be_cuda ? Conflict::kNone : Conflict::kCpuAndCuda;
    if (!facts.may_be_cuda) return Conflict::kNone;
    const bool certain = facts.cuda_is_meant || !facts.may_be_cpu;
    return certain ? Conflict::kCpuAndCuda : Conflict::kPossible;
  }
  if (a.is_cpu() != b.is_cpu()) return Conflict::kCpuAndCuda;
  // Without an index is the current device, which is number 0 unless somebody set it.
  return a.index == b.index ? Conflict::kNone : Conflict::kTwoCudas;
}

// One value may be on several devices after a branch: they conflict when they do whichever it is.
Conflict DeviceState::conflict(const Placement& a, const Placement& b) const {
  if (!a.known || !b.known || a.devices.empty() || b.devices.empty()) return Conflict::kNone;
  std::optional<Conflict> all;
  for (const DeviceValue& x : a.devices) {
    for (const DeviceValue& y : b.devices) {
      const Conflict one = conflict(x, y);
      if (one == Conflict::kNone || (all && *all != one)) return Conflict::kNone;
      all = one;
    }
  }
  return *all;
}

SymbolFacts facts_of_choice(llvm::ArrayRef<DeviceValue> devices, const DeviceState& state) {
  SymbolFacts choice{false, false, false};
  for (const DeviceValue& device : devices) {
    SymbolFacts one;
    if (device.is_symbol()) {
      one = state.facts(device.symbol);
    } else {
      one = SymbolFacts{device.is_cpu(), device.is_cuda(), device.is_cuda()};
    }
    choice.may_be_cpu |= one.may_be_cpu;
    choice.may_be_cuda |= one.may_be_cuda;
    choice.cuda_is_meant |= one.cuda_is_meant;
  }
  return choice;
}

Placement DeviceState::in_terms_of(const Placement& placement, const Placement& model) const {
  const DeviceValue* here = placement.single();
  const DeviceValue* there = model.single();
  const bool same = here != nullptr && there != nullptr && here->is_cpu() && there->is_symbol() &&
                    !facts(there->symbol).may_be_cuda;
  return same ? model : placement;
}

Placement DeviceState::choose(const clang::ValueDecl* variable, const Placement& a,
                              const Placement& b, const DeviceState& other) {
  if (!a.known || !b.known) return Placement::unknown();
  if (a.devices == b.devices) return a;
  const SymbolFacts mine = facts_of_choice(a.devices, *this);
  const SymbolFacts theirs = facts_of_choice(b.devices, other);
  set_facts(variable, SymbolFacts{mine.may_be_cpu || theirs.may_be_cpu,
                                  mine.may_be_cuda || theirs.may_be_cuda,
                                  mine.cuda_is_meant || theirs.cuda_is_meant});
  Placement chosen = Placement::on(DeviceValue::of(variable), a.made);
  chosen.by_default = a.by_default && b.by_default;
  return chosen;
}

bool DeviceState::join_with(const DeviceState& other) {
  const DeviceState before = *this;
  std::map<const void*, SymbolFacts> symbols = other.symbols_;
  symbols.insert(symbols_.begin(), symbols_.end());
  for (auto& [symbol, facts] : symbols) {
    const SymbolFacts mine = this->facts(symbol);
    const SymbolFacts theirs = other.facts(symbol);
    facts.may_be_cpu = mine.may_be_cpu || theirs.may_be_cpu;
    facts.may_be_cuda = mine.may_be_cuda || theirs.may_be_cuda;
    facts.cuda_is_meant = mine.cuda_is_meant || theirs.cuda_is_meant;
  }
  std::set<const clang::ValueDecl*> variables;
  for (const auto& entry : values_) variables.insert(entry.first);
  for (const auto& entry : other.values_) variables.insert(entry.first);
  std::map<const void*, SymbolFacts> chosen_symbols;
  for (const clang::ValueDecl* variable : variables) {
    const Placement mine = value(variable);
    const Placement theirs = other.value(variable);
    if (names_device(variable)) {
      set(variable, choose(variable, mine, theirs, other));
      const auto chosen = symbols_.find(variable);
      if (chosen != symbols_.end()) chosen_symbols[variable] = chosen->second;
    } else {
      set(variable, join(in_terms_of(mine, theirs), other.in_terms_of(theirs, mine)));
    }
  }
  symbols_ = std::move(symbols);
  for (const auto& [symbol, facts] : chosen_symbols) {
    SymbolFacts& kept = symbols_.try_emplace(symbol, facts).first->second;
    kept.may_be_cpu |= facts.may_be_cpu;
    kept.may_be_cuda |= facts.may_be_cuda;
    kept.cuda_is_meant |= facts.cuda_is_meant;
  }
  members_unknown_ |= other.members_unknown_;
  return values_ != before.values_ || symbols_ != before.symbols_ ||
         members_unknown_ != before.members_unknown_;
}

}  // namespace devsan::lint
