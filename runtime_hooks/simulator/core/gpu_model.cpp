// The table of GPU models, from NVIDIA's data sheets and the CUDA programming guide's table of
// compute capabilities.
#include "simulator/core/gpu_model.h"

#include <array>
#include <stdexcept>

namespace devsan::sim {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr int kMiB = 1 << 20;
constexpr int kKiB = 1 << 10;

constexpr std::array kModels = {
    GpuModel{.key = "h100",
             .name = "NVIDIA H100 80GB HBM3",
             .memory = 80 * kGiB,
             .major = 9,
             .minor = 0,
             .multiprocessors = 132,
             .clock_khz = 1980000,
             .memory_clock_khz = 2619000,
             .memory_bus_bits = 5120,
             .l2_bytes = 50 * kMiB,
             .threads_per_multiprocessor = 2048,
             .shared_per_multiprocessor = 228 * kKiB,
             .shared_per_block_optin = 227 * kKiB,
             .blocks_per_multiprocessor = 32},
    GpuModel{.key = "a100",
             .name = "NVIDIA A100-SXM4-80GB",
             .memory = 80 * kGiB,
             .major = 8,
             .minor = 0,
             .multiprocessors = 108,
             .clock_khz = 1410000,
             .memory_clock_khz = 1593000,
             .memory_bus_bits = 5120,
             .l2_bytes = 40 * kMiB,
             .threads_per_multiprocessor = 2048,
             .shared_per_multiprocessor = 164 * kKiB,
             .shared_per_block_optin = 163 * kKiB,
             .blocks_per_multiprocessor = 32},
    GpuModel{.key = "l4",
             .name = "NVIDIA L4",
             .memory = 24 * kGiB,
             .major = 8,
             .minor = 9,
             .multiprocessors = 58,
             .clock_khz = 2040000,
             .memory_clock_khz = 6251000,
             .memory_bus_bits = 192,
             .l2_bytes = 48 * kMiB,
             .threads_per_multiprocessor = 1536,
             .shared_per_multiprocessor = 100 * kKiB,
             .shared_per_block_optin = 99 * kKiB,
             .blocks_per_multiprocessor = 24},
    GpuModel{.key = "rtx4090",
             .name = "NVIDIA GeForce RTX 4090",
             .memory = 24 * kGiB,
             .major = 8,
             .minor = 9,
             .multiprocessors = 128,
             .clock_khz = 2520000,
             .memory_clock_khz = 10501000,
             .memory_bus_bits = 384,
             .l2_bytes = 72 * kMiB,
             .threads_per_multiprocessor = 1536,
             .shared_per_multiprocessor = 100 * kKiB,
             .shared_per_block_optin = 99 * kKiB,
             .blocks_per_multiprocessor = 24},
};

}  // namespace

std::span<const GpuModel> gpu_models() {
  return kModels;
}

const GpuModel& find_gpu_model(std::string_view key) {
  std::string known;
  for (const GpuModel& model : kModels) {
    if (model.key == key) return model;
    known += known.empty() ? "" : ", ";
    known += model.key;
  }
  throw std::invalid_argument("gpu: no model '" + std::string(key) + "'; there are " + known);
}

}  // namespace devsan::sim
