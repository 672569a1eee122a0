// openmm/openmm-torch#177: what a module returned is handed to a kernel by its pointer.
#include <torch/script.h>

void add_forces(const void* forces, void* total, int atoms);  // launches a kernel

void execute(torch::jit::Module& module, torch::Tensor positions, void* total) {
  TORCH_CHECK(positions.is_cuda());
  auto forces = module.forward({positions}).toTuple()->elements()[1].toTensor();
#ifdef FIXED
  forces = forces.to(positions.device());
#endif
  const void* pointer = forces.data_ptr();  // missed: raw-pointer-space
  add_forces(pointer, total, static_cast<int>(positions.size(0)));
}
