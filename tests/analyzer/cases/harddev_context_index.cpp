// openmm/openmm-torch#70: the module on the current GPU, the positions on the context's.
#include <torch/script.h>

class CudaContext {
 public:
  int device_index() const { return index_; }

 private:
  int index_ = 0;
};

class ForceKernel {
 public:
  explicit ForceKernel(CudaContext& context) : context_(context) {}

  void initialize(const torch::jit::Module& module, int atoms) {
    module_ = module;
#ifdef FIXED
    const torch::Device device(torch::kCUDA, context_.device_index());
    module_.to(device);
    auto options = torch::TensorOptions().device(device).dtype(torch::kFloat64);
#else
    module_.to(torch::kCUDA);  // fault: hard-coded-device
    auto options =
        torch::TensorOptions().device(torch::kCUDA, context_.device_index()).dtype(torch::kFloat64);
#endif
    positions_ = torch::empty({atoms, 3}, options);
  }

  double energy() { return module_.forward({positions_}).toTensor().item<double>(); }

 private:
  CudaContext& context_;
  torch::jit::Module module_;
  torch::Tensor positions_;
};
