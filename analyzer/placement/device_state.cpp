// Look-ups, joins, and the question that all flow rules ask: do these two agree?
#include "device_state.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "clang/AST/DeclCXX.h"

namespace devsan::lint {
namespace {

SymbolFacts either(const SymbolFacts& a, const SymbolFacts& b) {
  return {a.may_be_cpu || b.may_be_cpu, a.may_be_cuda || b.may_be_cuda,
          a.cuda_is_meant || b.cuda_is_meant};
}

bool is_lambda(const clang::FunctionDecl* function) {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(function);
  return method != nullptr && method->getParent()->isLambda();
}

// The set of both, without their parts.
Placement join_whole(const Placement& a, const Placement& b) {
  constexpr std::size_t kMost = 4;
  if (!a.known || !b.known) return Placement::unknown();
  if (a.devices.empty()) return b;
  if (b.devices.empty()) return a;
  Placement both = a;
  const auto of_default = [](const Placement& one) -> const clang::Expr* {
    if (!one.by_default) return one.default_on_a_path;
    return one.rank == Rank::kSome ? one.made : nullptr;
  };
  if (a.by_default != b.by_default || a.default_on_a_path != b.default_on_a_path) {
    both.default_on_a_path = of_default(a) != nullptr ? of_default(a) : of_default(b);
  }
  for (const DeviceValue& device : b.devices) {
    if (!llvm::is_contained(both.devices, device)) both.devices.push_back(device);
  }
  if (both.devices.size() > kMost) return Placement::unknown();
  std::sort(both.devices.begin(), both.devices.end());
  both.by_default = a.by_default && b.by_default;
  if (a.rank != b.rank) both.rank = Rank::kUnknown;
  return both;
}

}  // namespace

bool DeviceState::is_given(const clang::ValueDecl* variable) const {
  if (variable->getDeclContext() == function_) return llvm::isa<clang::ParmVarDecl>(variable);
  const auto* local = llvm::dyn_cast<clang::VarDecl>(variable);
  return local != nullptr && local->hasLocalStorage() && is_lambda(function_);
}

Placement DeviceState::value(const Path* path) const {
  if (!path->is_root()) return value(path->parent()).part(path->step());
  const auto entry = values_.find(path);
  if (entry != values_.end()) return entry->second;
  const bool given =
      path->begins_at_this() || (path->variable() != nullptr && is_given(path->variable()));
  return given ? Placement::on(DeviceValue::of(path)) : Placement::unknown();
}

void DeviceState::set(const Path* path, Placement placement) {
  if (path->is_root()) {
    values_[path] = std::move(placement);
    return;
  }
  Placement whole = value(path->parent());
  whole.set_part(path->step(), std::move(placement));
  set(path->parent(), std::move(whole));
}

SymbolFacts DeviceState::facts(const Path* symbol) const {
  const auto entry = symbols_.find(symbol);
  return entry == symbols_.end() ? SymbolFacts{} : entry->second;
}

SymbolFacts DeviceState::facts_of(llvm::ArrayRef<DeviceValue> devices) const {
  SymbolFacts any{false, false, false};
  for (const DeviceValue& device : devices) {
    any = either(any, device.is_symbol()
                          ? facts(device.symbol)
                          : SymbolFacts{device.is_cpu(), device.is_cuda(), device.is_cuda()});
  }
  return any;
}

bool DeviceState::assume_cuda(const Path* path, Placement placement, bool cuda) {
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
  set(path, std::move(placement));
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

Placement DeviceState::in_terms_of(const Placement& placement, const Placement& model) const {
  const DeviceValue* here = placement.single();
  const DeviceValue* there = model.single();
  const bool same = here != nullptr && there != nullptr && here->is_cpu() && there->is_symbol() &&
                    !facts(there->symbol).may_be_cuda;
  if (!same) return placement;
  Placement renamed = placement;
  renamed.devices = model.devices;
  renamed.by_default = model.by_default;
  renamed.made = model.made;
  return renamed;
}

Placement DeviceState::choose(const Path* at, const Placement& a, const Placement& b,
                              const DeviceState& other) {
  if (!a.known || !b.known) return Placement::unknown();
  if (a.devices == b.devices) return a;
  const Path* symbol = at->step() == kChosen ? at : at->member(kChosen);
  set_facts(symbol, either(facts_of(a.devices), other.facts_of(b.devices)));
  Placement chosen = Placement::on(DeviceValue::of(symbol), a.made);
  chosen.by_default = a.by_default && b.by_default;
  chosen.names = true;
  return chosen;
}

Placement DeviceState::joined(const Path* at, const Placement& a, const Placement& b,
                              const DeviceState& other) {
  Placement both = a.names || b.names ? choose(at, a, b, other)
                                      : join_whole(in_terms_of(a, b), other.in_terms_of(b, a));
  both.parts = nullptr;
  if (a.parts == b.parts && a.devices == b.devices && a.known == b.known) {
    both.parts = a.parts;
    return both;
  }
  std::set<std::string> steps;
  for (const Placement* one : {&a, &b}) {
    if (one->parts == nullptr) continue;
    for (const auto& part : *one->parts) steps.insert(part.first);
  }
  for (const std::string& step : steps) {
    both.set_part(step, joined(at->member(step), a.part(step), b.part(step), other));
  }
  return both;
}

// A symbol that only one of the two knows stands for nothing in the other when it was made on the
// way; what the function was given can there be anything.
void DeviceState::join_symbols(const std::map<const Path*, SymbolFacts>& other) {
  const auto made_on_the_way = [](const Path* symbol) {
    return symbol->step() == kChosen || symbol->root()->expression() != nullptr;
  };
  for (auto& [symbol, facts] : symbols_) {
    const auto theirs = other.find(symbol);
    if (theirs != other.end()) {
      facts = either(facts, theirs->second);
    } else if (!made_on_the_way(symbol)) {
      facts = either(facts, SymbolFacts{});
    }
  }
  for (const auto& [symbol, facts] : other) {
    const SymbolFacts absent = made_on_the_way(symbol) ? facts : either(facts, SymbolFacts{});
    symbols_.try_emplace(symbol, absent);
  }
}

bool DeviceState::join_with(const DeviceState& other) {
  const DeviceState before = *this;
  std::set<const Path*> roots;
  for (const auto& entry : values_) roots.insert(entry.first);
  for (const auto& entry : other.values_) roots.insert(entry.first);
  std::map<const Path*, Placement> values;
  for (const Path* root : roots) {
    const Placement mine = value(root);
    const Placement theirs = other.value(root);
    values[root] = mine == theirs ? mine : joined(root, mine, theirs, other);
  }
  values_ = std::move(values);
  // Symbols of choices have been set by the joins.
  const auto chosen = std::exchange(symbols_, before.symbols_);
  join_symbols(other.symbols_);
  for (const auto& [symbol, facts] : chosen) {
    if (symbol->step() != kChosen) continue;
    const auto entry = symbols_.try_emplace(symbol, facts).first;
    entry->second = either(entry->second, facts);
  }
  return values_ != before.values_ || symbols_ != before.symbols_;
}

}  // namespace devsan::lint
