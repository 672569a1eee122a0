// Reads device names and checks them against what this process sees.
#include "devices.h"

#include <fmt/ranges.h>
#include <torch/cuda.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "usage_error.h"

namespace models {
namespace {

std::string join(const std::vector<c10::Device>& devices) {
  std::vector<std::string> names;
  for (const c10::Device& device : devices) names.push_back(device.str());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<c10::Device> available_devices() {
  std::vector<c10::Device> devices{c10::Device(c10::kCPU)};
  for (c10::DeviceIndex index = 0; index < torch::cuda::device_count(); ++index) {
    devices.emplace_back(c10::kCUDA, index);
  }
  return devices;
}

c10::Device parse_device(std::string_view text) {
  constexpr std::string_view kCudaPrefix = "cuda:";
  c10::Device device(c10::kCPU);
  if (text != "cpu") {
    int index = -1;
    const char* end = text.data() + text.size();
    const bool is_cuda = text.starts_with(kCudaPrefix) && text.size() > kCudaPrefix.size();
    if (is_cuda) {
      const auto [stop, error] = std::from_chars(text.data() + kCudaPrefix.size(), end, index);
      if (error != std::errc() || stop != end) index = -1;
    }
    if (index < 0 || index > 127) {
      throw UsageError(fmt::format("'{}' is not a device; accepted: cpu, cuda:N", text));
    }
    device = c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
  }
  const auto available = available_devices();
  if (std::find(available.begin(), available.end(), device) == available.end()) {
    throw UsageError(fmt::format("there is no device {}; there are: {}", text, join(available)));
  }
  return device;
}

std::vector<c10::Device> parse_devices(std::string_view list) {
  std::vector<c10::Device> devices;
  while (true) {
    const auto comma = list.find(',');
    const c10::Device device = parse_device(list.substr(0, comma));
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      throw UsageError(fmt::format("device {} is named twice", device.str()));
    }
    devices.push_back(device);
    if (comma == std::string_view::npos) return devices;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace models
