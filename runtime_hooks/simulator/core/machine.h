// The simulated machine of this process, and the device that is current on each thread.
#pragma once

#include <array>
#include <mutex>

#include "simulator/core/config.h"
#include "simulator/core/kernels.h"
#include "simulator/core/memory.h"
#include "simulator/core/streams.h"

namespace devsan::sim {

class Machine {
 public:
  explicit Machine(Config config);

  const Config& config() const { return config_; }
  int device_count() const { return static_cast<int>(config_.visible.size()); }
  bool has_device(int device) const { return device >= 0 && device < device_count(); }
  // The place in the machine of a device as the program numbers it.
  int physical(int device) const { return config_.visible.at(static_cast<std::size_t>(device)); }

  Memory& memory() { return memory_; }
  Streams& streams() { return streams_; }
  Kernels& kernels() { return kernels_; }

  // Access of `device` to memory of `peer`, switched on once. kInvalidDevice where either is not
  // there or both are the same.
  Status enable_peer_access(int device, int peer);
  Status disable_peer_access(int device, int peer);

 private:
  Config config_;
  Memory memory_;
  Streams streams_;
  Kernels kernels_;
  std::mutex peer_mutex_;
  std::array<std::array<bool, kMaxDevices>, kMaxDevices> peer_access_{};
};

// Made at the first call from DEVSAN_OPTIONS and CUDA_VISIBLE_DEVICES; bad options end the process
// with one line and exit code 2. Never destroyed: libraries free their memory while the process
// exits.
Machine& machine();

// CUDA's current device of this thread: 0 at its start.
int current_device();
Status set_current_device(int device);

}  // namespace devsan::sim
