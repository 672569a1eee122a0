// openmm/NNPOps#37: launches on the legacy default stream.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

__global__ void radial(const float* positions, float* features, int atoms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < atoms) features[i] = positions[3 * i];
}

class RadialFunctions {
 public:
  torch::Tensor compute(const torch::Tensor& positions) {
    const int atoms = positions.size(0);
    auto features = torch::empty({atoms}, positions.options());
    const float* in = positions.data_ptr<float>();
    float* out = features.data_ptr<float>();
#ifdef FIXED
    const c10::cuda::CUDAGuard guard(positions.device());
    const auto stream = at::cuda::getCurrentCUDAStream(positions.get_device());
    radial<<<(atoms + 127) / 128, 128, 0, stream>>>(in, out, atoms);
#else
    radial<<<(atoms + 127) / 128, 128>>>(in, out, atoms);  // fault: missing-device-guard
#endif
    return features;
  }
};
