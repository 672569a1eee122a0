// The activation or head is chosen by name and held as an AnyModule.
#include <torch/torch.h>

#include <string>

class ProbeImpl : public torch::nn::Module {
 public:
  ProbeImpl(int64_t in, int64_t out, const std::string& kind) {
    stem_ = register_module("stem", torch::nn::Linear(in, in));
    if (kind == "linear") {
      head_ = torch::nn::AnyModule(torch::nn::Linear(in, out));
    } else {
      head_ = torch::nn::AnyModule(torch::nn::Bilinear(in, in, out));
    }
#ifdef FIXED
    register_module("head", head_.ptr());
#endif
  }
  torch::Tensor forward(torch::Tensor x) { return head_.forward(stem_->forward(x)); }

 private:
  torch::nn::Linear stem_{nullptr};
  torch::nn::AnyModule head_;  // fault: unregistered-member
};
