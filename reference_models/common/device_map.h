// Which device each part of a model lives on, in the manner of accelerate's device_map:
// {"shared": "cuda:0", "encoder.block.0": "cuda:0", "encoder.block.1": "cuda:1", ...}.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace models {

class DeviceMap {
 public:
  explicit DeviceMap(std::map<std::string, c10::Device, std::less<>> entries)
      : entries_(std::move(entries)) {}

  // A JSON object of module name to device. Throws UsageError for anything else.
  static DeviceMap from_json(std::string_view text);

  // The device of the entry that is the longest prefix of `name`, whole components only:
  // "encoder.block.1" covers "encoder.block.1.layer.0" and not "encoder.block.10". The entry ""
  // covers everything. Throws UsageError where no entry does.
  c10::Device device_for(std::string_view name) const;

  const std::map<std::string, c10::Device, std::less<>>& entries() const { return entries_; }

 private:
  std::map<std::string, c10::Device, std::less<>> entries_;
};

// What is placed as a whole: a block, an embedding, a head.
struct ModelPart {
  std::string name;
  std::int64_t bytes;
};

// Gives each device one run of consecutive parts, so that activations cross each border once, and
// cuts where the device with the most bytes has the fewest. `parts` stand in the order they run in.
// Throws UsageError when there are more devices than parts.
DeviceMap infer_device_map(const std::vector<ModelPart>& parts,
                           const std::vector<c10::Device>& devices);

}  // namespace models
