// The GPU models that can be simulated: what a program can ask a device about itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace devsan::sim {

struct GpuModel {
  std::string_view key;   // as --gpu takes it
  std::string_view name;  // as cudaGetDeviceProperties gives it
  std::uint64_t memory;   // bytes
  int major;              // compute capability
  int minor;
  int multiprocessors;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
  int l2_bytes;
  int threads_per_multiprocessor;
  int shared_per_multiprocessor;  // bytes
  int shared_per_block_optin;     // bytes
  int blocks_per_multiprocessor;
};

std::span<const GpuModel> gpu_models();

// Throws std::invalid_argument: one line that names the models there are.
const GpuModel& find_gpu_model(std::string_view key);

}  // namespace devsan::sim
