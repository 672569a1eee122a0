// A device, in two bytes, as the tracer keeps it for every tensor. Values are those of c10::Device.
#pragma once

#include <cstdint>
#include <string>

namespace devsan::trace {

struct Device {
  std::int8_t type = 0;    // c10::DeviceType: 0 is the CPU, 1 is CUDA
  std::int8_t index = -1;  // -1: the CPU, or no index

  bool is_cpu() const { return type == 0; }
  bool operator==(const Device&) const = default;
};

// "cpu", "cuda:1".
std::string to_string(Device device);

}  // namespace devsan::trace
