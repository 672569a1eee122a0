// The same through a lambda and a map.
#include <torch/torch.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

class StateCache {
 public:
  void move_to(torch::Device device) {
    std::for_each(states_.begin(), states_.end(), [&](torch::Tensor& state) {
#ifdef FIXED
      state = state.to(device);
#else
      state.to(device);  // fault: dropped-move
#endif
    });
    for (auto& [name, table] : tables_) {
#ifdef FIXED
      table = table.to(device);
#else
      table.to(device);  // fault: dropped-move
#endif
    }
  }

 private:
  std::vector<torch::Tensor> states_;
  std::map<std::string, torch::Tensor> tables_;
};
