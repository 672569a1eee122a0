// Names of devices.
#include "core/device.h"

#include <array>
#include <string_view>

namespace devsan::trace {
namespace {

// By c10::DeviceType, whose numbers are part of PyTorch's serialisation format.
constexpr std::array<std::string_view, 21> kTypeNames = {
    "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
    "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
    "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuse1"};

}  // namespace

std::string to_string(Device device) {
  const auto type = static_cast<std::size_t>(device.type);
  std::string name(type < kTypeNames.size() ? kTypeNames[type] : "unknown");
  if (!device.is_cpu() && device.index >= 0) name += ":" + std::to_string(device.index);
  return name;
}

}  // namespace devsan::trace
