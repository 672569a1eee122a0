// The lattice's join, and how devices are spelled.
#include "placement.h"

#include <algorithm>

namespace devsan::lint {

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
  return placement;
}

Placement Placement::undefined() {
  Placement placement;
  placement.known = true;
  return placement;
}

Placement join(const Placement& a, const Placement& b) {
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

}  // namespace devsan::lint
