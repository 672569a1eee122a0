// Under a condition without braces, as options of a program ask for.
#include <torch/torch.h>

namespace {

struct Options {
  bool use_cuda = false;
  double temperature = 1.0;
};

}  // namespace

torch::Tensor sample_tokens(torch::Tensor logits, const Options& options) {
  auto weights = torch::softmax(logits / options.temperature, -1);
#ifdef FIXED
  weights = weights.cpu();
#else
  if (options.use_cuda) weights.cpu();  // fault: dropped-move
#endif
  const float* values = weights.contiguous().data_ptr<float>();
  return torch::tensor(values[0]);
}
