// Looks devices up by prefix, and splits a model by bytes.
#include "device_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "devices.h"
#include "usage_error.h"

namespace models {

DeviceMap DeviceMap::from_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    throw UsageError(R"(a device map is a JSON object such as {"encoder.block.0": "cuda:0"})");
  }
  std::map<std::string, c10::Device, std::less<>> entries;
  for (const auto& [name, device] : json.items()) {
    if (!device.is_string()) {
      throw UsageError(fmt::format("device map: the device of '{}' is not a string", name));
    }
    entries.emplace(name, parse_device(device.get<std::string>()));
  }
  return DeviceMap(std::move(entries));
}

c10::Device DeviceMap::device_for(std::string_view name) const {
  std::string_view prefix = name;
  while (true) {
    if (const auto found = entries_.find(prefix); found != entries_.end()) return found->second;
    if (prefix.empty()) {
      throw UsageError(fmt::format("device map: no entry covers '{}'", name));
    }
    const auto dot = prefix.rfind('.');
    prefix = prefix.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
}

DeviceMap infer_device_map(const std::vector<ModelPart>& parts,
                           const std::vector<c10::Device>& devices) {
  const std::size_t part_count = parts.size();
  const std::size_t device_count = devices.size();
  if (device_count == 0 || device_count > part_count) {
    throw UsageError(fmt::format("a model of {} parts cannot be split over {} devices", part_count,
                                 device_count));
  }

  std::vector<std::int64_t> bytes_before(part_count + 1, 0);
  for (std::size_t i = 0; i < part_count; ++i) {
    bytes_before[i + 1] = bytes_before[i] + parts[i].bytes;
  }

  // largest[d][n]: bytes of the fullest device when the first n parts are on d devices, at its
  // least; cut[d][n]: how many of those parts stand before the last of the d devices then.
  constexpr auto kImpossible = std::numeric_limits<std::int64_t>::max();
  std::vector<std::vector<std::int64_t>> largest(
      device_count + 1, std::vector<std::int64_t>(part_count + 1, kImpossible));
  std::vector<std::vector<std::size_t>> cut(device_count + 1,
                                            std::vector<std::size_t>(part_count + 1, 0));
  largest[0][0] = 0;
  for (std::size_t d = 1; d <= device_count; ++d) {
    for (std::size_t n = d; n <= part_count; ++n) {
      for (std::size_t before = d - 1; before < n; ++before) {
        if (largest[d - 1][before] == kImpossible) continue;
        const std::int64_t last_device = bytes_before[n] - bytes_before[before];
        const std::int64_t fullest = std::max(largest[d - 1][before], last_device);
        if (fullest < largest[d][n]) {
          largest[d][n] = fullest;
          cut[d][n] = before;
        }
      }
    }
  }

  std::map<std::string, c10::Device, std::less<>> entries;
  std::size_t end = part_count;
  for (std::size_t d = device_count; d > 0; --d) {
    const std::size_t begin = cut[d][end];
    for (std::size_t i = begin; i < end; ++i) entries.emplace(parts[i].name, devices[d - 1]);
    end = begin;
  }
  return DeviceMap(std::move(entries));
}

}  // namespace models
