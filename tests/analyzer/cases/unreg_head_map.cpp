// One head a task, in a map.
#include <torch/torch.h>

#include <string>
#include <unordered_map>
#include <vector>

struct MultiTaskImpl : torch::nn::Module {
  MultiTaskImpl(int64_t width, const std::vector<std::string>& tasks) {
    trunk = register_module("trunk", torch::nn::Linear(width, width));
    for (const auto& task : tasks) {
#ifdef FIXED
      heads.emplace(task, register_module("head_" + task, torch::nn::Linear(width, 1)));
#else
      heads.emplace(task, torch::nn::Linear(width, 1));
#endif
    }
  }

  torch::Tensor forward(const torch::Tensor& x, const std::string& task) {
    return heads.at(task)->forward(torch::relu(trunk->forward(x)));
  }

  torch::nn::Linear trunk{nullptr};
  std::unordered_map<std::string, torch::nn::Linear> heads;  // fault: unregistered-member
};
TORCH_MODULE(MultiTask);
