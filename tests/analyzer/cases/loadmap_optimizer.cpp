// NVIDIA/TorchFort#23: the state of the optimizer is loaded to where it was saved.
#include <torch/torch.h>

#include <filesystem>
#include <memory>
#include <string>

namespace trainer {

struct Checkpoint {
  std::shared_ptr<torch::nn::Module> model;
  std::shared_ptr<torch::optim::Optimizer> optimizer;
};

void restore(Checkpoint& checkpoint, const std::filesystem::path& folder,
             const torch::Device& device) {
  torch::load(checkpoint.model, (folder / "model.pt").string(), device);
#ifdef FIXED
  torch::load(*checkpoint.optimizer, (folder / "optimizer.pt").string(), device);
#else
  const std::string path = (folder / "optimizer.pt").string();
  torch::load(*checkpoint.optimizer, path);  // fault: load-without-device
#endif
}

}  // namespace trainer
