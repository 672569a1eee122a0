// The devices a user names and the devices there are.
#pragma once

#include <c10/core/Device.h>

#include <string_view>
#include <vector>

namespace models {

// cpu, then each CUDA device this process sees.
std::vector<c10::Device> available_devices();

// "cpu" or "cuda:N". Throws UsageError for another spelling, and for a device that is not there:
// the message names those that are.
c10::Device parse_device(std::string_view text);

// "cuda:0,cuda:1". Throws UsageError as parse_device does, and for a device named twice.
std::vector<c10::Device> parse_devices(std::string_view list);

}  // namespace models
