// Parts of a placement, and how devices are spelled.
#include "placement.h"

namespace devsan::lint {
namespace {

// What a choice between devices gave: what was moved there is there with all its members.
bool is_chosen_device(const Path& symbol) {
  return symbol.step() == kChosen ||
         (symbol.is_root() &&
          llvm::isa_and_nonnull<clang::AbstractConditionalOperator>(symbol.expression()));
}

}  // namespace

std::string to_string(const DeviceValue& device) {
  switch (device.kind) {
    case DeviceValue::Kind::kCpu:
      return "the CPU";
    case DeviceValue::Kind::kCuda:
      return "cuda";
    case DeviceValue::Kind::kCudaIndex:
      return "cuda:" + std::to_string(device.index);
    case DeviceValue::Kind::kSymbol:
      break;
  }
  return {};
}

Placement Placement::on(DeviceValue device, const clang::Expr* made) {
  Placement placement;
  placement.known = true;
  placement.devices.push_back(device);
  placement.made = made;
  // What is said of a symbol's tensor is what will be known of it.
  if (device.is_symbol()) placement.rank = Rank::kOfInput;
  return placement;
}

Placement Placement::undefined() {
  Placement placement;
  placement.known = true;
  return placement;
}

Placement Placement::part(llvm::StringRef step) const {
  if (parts != nullptr) {
    const auto entry = parts->find(std::string_view(step));
    if (entry != parts->end()) return entry->second;
  }
  if (const DeviceValue* device = single();
      device != nullptr && device->is_symbol() && !is_chosen_device(*device->symbol)) {
    Placement member = on(DeviceValue::of(device->symbol->member(step)));
    return member;
  }
  Placement member = *this;
  member.parts = nullptr;
  return member;
}

void Placement::set_part(llvm::StringRef step, Placement placement) {
  auto changed = parts == nullptr ? std::make_shared<Parts>() : std::make_shared<Parts>(*parts);
  (*changed)[step.str()] = std::move(placement);
  parts = std::move(changed);
}

bool Placement::operator==(const Placement& other) const {
  const bool same = known == other.known && devices == other.devices && rank == other.rank &&
                    by_default == other.by_default;
  if (!same || parts == other.parts) return same;
  if (parts == nullptr || other.parts == nullptr) return false;
  return *parts == *other.parts;
}

}  // namespace devsan::lint
