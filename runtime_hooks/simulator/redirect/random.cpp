// Seed and offset of a CUDA generator -> a CPU engine.
#include "simulator/redirect/random.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>

namespace devsan::sim {
namespace {

thread_local at::Generator engine_of_op;

// What a CUDA kernel that draws at least once advances the offset by: it must stay a multiple of 4.
constexpr std::uint64_t kOffsetStep = 4;

// Two words into one, so that neighbouring offsets give unrelated engines (the finalizer of
// splitmix64).
std::uint64_t mix(std::uint64_t seed, std::uint64_t offset) {
  std::uint64_t x = seed + 0x9E3779B97F4A7C15ull * (offset / kOffsetStep + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

at::Generator engine_for_op(const at::Generator& given, c10::Device device) {
  const at::Generator& generator =
      given.defined() ? given : at::globalContext().defaultGenerator(device);
  auto* cuda = at::check_generator<at::CUDAGeneratorImpl>(generator);
  const std::lock_guard lock(cuda->mutex_);
  const std::uint64_t offset = cuda->philox_offset_per_thread();
  cuda->set_philox_offset_per_thread(offset + kOffsetStep);
  return at::detail::createCPUGenerator(mix(cuda->current_seed(), offset));
}

const at::Generator& current_engine() {
  return engine_of_op;
}

EngineScope::EngineScope(at::Generator engine) : previous_(std::move(engine_of_op)) {
  engine_of_op = std::move(engine);
}

EngineScope::~EngineScope() {
  engine_of_op = std::move(previous_);
}

}  // namespace devsan::sim
