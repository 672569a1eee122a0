// torch::where and torch::eye with a tensor of weights.
#include <torch/torch.h>

class GraphConvImpl : public torch::nn::Module {
 public:
  GraphConvImpl(int64_t in, int64_t out) {
    weight_ = register_parameter("weight", torch::randn({in, out}));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& adjacency) {
#ifdef FIXED
    auto identity = torch::eye(adjacency.size(0), adjacency.options());
#else
    auto identity = torch::eye(adjacency.size(0));  // fault: factory-without-device
#endif
    auto a = adjacency + identity;
    auto scale = a.sum(1).rsqrt();
    return torch::mm(a * scale.unsqueeze(0), torch::mm(x, weight_));
  }

 private:
  torch::Tensor weight_;
};
TORCH_MODULE(GraphConv);
