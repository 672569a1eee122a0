// What machine is simulated: read once from DEVSAN_OPTIONS and CUDA_VISIBLE_DEVICES.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "devsan/run_options.h"
#include "simulator/core/gpu_model.h"

namespace devsan::sim {

// More than any one machine has; the memory accounting has a slot for each.
inline constexpr int kMaxDevices = 64;

// The machine's device i sits on PCI bus kFirstPciBus + i.
inline constexpr int kFirstPciBus = 0x10;

struct Config {
  GpuModel gpu;                   // memory and capability as the options changed them
  int devices = 0;                // of the machine, visible or not
  std::vector<int> visible;       // for each device the program sees, its place in the machine
  std::int64_t nccl_timeout = 0;  // seconds that a rank waits for another
  bool verbose = false;
};

// Throws std::invalid_argument: one line that says what is wrong and what is accepted.
Config make_config(const RunOptions& options, const char* cuda_visible_devices);

// The devices that CUDA_VISIBLE_DEVICES leaves of `count`, by CUDA's rules: indices or UUIDs
// ("GPU-" and a prefix), in the order named, up to the first that is not there; none if one comes
// twice. Null leaves them all.
std::vector<int> visible_devices(const char* cuda_visible_devices, int count);

// The UUID of the machine's device `physical`, 16 bytes; as text "GPU-xxxxxxxx-xxxx-...".
std::vector<unsigned char> device_uuid(int physical);
std::string device_uuid_text(int physical);

}  // namespace devsan::sim
