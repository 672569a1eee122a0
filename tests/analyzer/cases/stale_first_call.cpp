// openmm/NNPOps#112: an object fixes its device at its first call.
#include <torch/torch.h>

#include <memory>

class Symmetry {
 public:
  explicit Symmetry(torch::Device device)
      : device_(device), radii_(torch::linspace(0.5, 5.0, 16, device)) {}
  torch::Device device() const { return device_; }
  torch::Tensor run(const torch::Tensor& positions) const {
    return torch::exp(-(positions.norm(2, 1).unsqueeze(1) - radii_).square());
  }

 private:
  torch::Device device_;
  torch::Tensor radii_;
};

class SymmetryHolder {
 public:
  torch::Tensor forward(const torch::Tensor& positions) {
#ifdef FIXED
    if (!symmetry_ || symmetry_->device() != positions.device()) {
      symmetry_ = std::make_unique<Symmetry>(positions.device());
    }
#else
    if (!symmetry_)
      symmetry_ = std::make_unique<Symmetry>(positions.device());  // missed: stale-device-cache
#endif
    return symmetry_->run(positions);
  }

 private:
  std::unique_ptr<Symmetry> symmetry_;
};
