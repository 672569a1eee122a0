// Options and CUDA_VISIBLE_DEVICES -> Config.
#include "simulator/core/config.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <stdexcept>

namespace devsan::sim {
namespace {

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The index that one entry of CUDA_VISIBLE_DEVICES means, or -1.
int device_of_entry(std::string_view entry, int count) {
  if (entry.starts_with("GPU-")) {
    int found = -1;
    for (int device = 0; device < count; ++device) {
      if (!device_uuid_text(device).starts_with(entry)) continue;
      if (found >= 0) return -1;  // an ambiguous prefix names none
      found = device;
    }
    return found;
  }
  int index = -1;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  const bool whole = error == std::errc() && end == entry.data() + entry.size();
  return whole && index >= 0 && index < count ? index : -1;
}

void set_capability(GpuModel& gpu, const std::string& text) {
  int major = 0;
  int minor = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d.%d%c", &major, &minor, &rest) != 2 || major < 1 || minor < 0) {
    throw std::invalid_argument("compute_capability: '" + text + "' is not of the form 9.0");
  }
  gpu.major = major;
  gpu.minor = minor;
}

}  // namespace

std::vector<unsigned char> device_uuid(int physical) {
  std::vector<unsigned char> bytes(16, 0);
  // "DEVSAN" and the number: plainly not a real board's.
  const std::string_view mark = "DEVSAN";
  std::copy(mark.begin(), mark.end(), bytes.begin());
  bytes[15] = static_cast<unsigned char>(physical);
  return bytes;
}

std::string device_uuid_text(int physical) {
  std::string text = "GPU";
  const std::vector<unsigned char> bytes = device_uuid(physical);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(bytes[i]));
    text += digits;
  }
  return text;
}

std::vector<int> visible_devices(const char* cuda_visible_devices, int count) {
  std::vector<int> devices;
  if (cuda_visible_devices == nullptr) {
    for (int device = 0; device < count; ++device) devices.push_back(device);
    return devices;
  }
  std::string_view rest = cuda_visible_devices;
  while (true) {
    const auto comma = rest.find(',');
    const int device = device_of_entry(trim(rest.substr(0, comma)), count);
    if (device < 0) return devices;
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) return {};
    devices.push_back(device);
    if (comma == std::string_view::npos) return devices;
    rest.remove_prefix(comma + 1);
  }
}

Config make_config(const RunOptions& options, const char* cuda_visible_devices) {
  if (options.simulate < 0 || options.simulate > kMaxDevices) {
    throw std::invalid_argument("simulate: " + std::to_string(options.simulate) +
                                " devices; accepted are 0 to " + std::to_string(kMaxDevices));
  }
  Config config;
  config.gpu = find_gpu_model(options.gpu);
  config.nccl_timeout = options.nccl_timeout;
  config.verbose = options.verbose != 0;
  if (options.device_memory != 0) config.gpu.memory = options.device_memory;
  if (!options.compute_capability.empty()) set_capability(config.gpu, options.compute_capability);
  config.devices = static_cast<int>(options.simulate);
  config.visible = visible_devices(cuda_visible_devices, config.devices);
  return config;
}

}  // namespace devsan::sim
