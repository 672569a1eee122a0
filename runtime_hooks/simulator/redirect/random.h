// Random numbers of a simulated device. The state of a CUDA generator is its seed and an offset;
// each op that draws gets a CPU engine seeded from both and advances the offset, so that seeds and
// get/set_state of the CUDA generator rule what comes out.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

namespace devsan::sim {

// The CPU generator for one op on `device`. `given` is the op's generator argument: a CUDA
// generator, or undefined for the device's default one.
at::Generator engine_for_op(const at::Generator& given, c10::Device device);

// For replacement kernels of ops that draw but take no generator: the engine of the op that runs
// now.
const at::Generator& current_engine();

class EngineScope {
 public:
  explicit EngineScope(at::Generator engine);
  ~EngineScope();
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;

 private:
  at::Generator previous_;
};

}  // namespace devsan::sim
