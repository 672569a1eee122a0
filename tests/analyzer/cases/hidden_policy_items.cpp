// google-deepmind/open_spiel#1487: one read of the device for each action.
#include <torch/torch.h>

#include <utility>
#include <vector>

using ActionsAndProbs = std::vector<std::pair<int64_t, double>>;

struct Request {
  std::vector<float> observation;
  std::vector<int64_t> legal;
};

std::vector<ActionsAndProbs> infer(torch::nn::Linear& net, const std::vector<Request>& requests,
                                   torch::Device device) {
  auto input = torch::empty({static_cast<int64_t>(requests.size()), 64});
  for (size_t i = 0; i < requests.size(); ++i) {
    input[i] = torch::tensor(requests[i].observation);
  }
#ifdef FIXED
  auto policy = torch::softmax(net->forward(input.to(device)), 1).to(torch::kCPU);
  auto values = policy.accessor<float, 2>();
#else
  auto policy = torch::softmax(net->forward(input.to(device)), 1);
#endif
  std::vector<ActionsAndProbs> result(requests.size());
  for (size_t batch = 0; batch < requests.size(); ++batch) {
    for (int64_t action : requests[batch].legal) {
#ifdef FIXED
      result[batch].emplace_back(action, values[batch][action]);
#else
      result[batch].emplace_back(action,
                                 policy[batch][action].item<float>());  // missed: hidden-sync
#endif
    }
  }
  return result;
}
