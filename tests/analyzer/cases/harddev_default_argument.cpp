// The device is a default of the constructor.
#include <torch/torch.h>

class CodebookImpl : public torch::nn::Module {
 public:
#ifdef FIXED
  CodebookImpl(int64_t codes, int64_t width, torch::Device device) {
#else
  CodebookImpl(int64_t codes, int64_t width,
               torch::Device device = torch::Device("cuda:0")) {  // fault: hard-coded-device
#endif
    codes_ = register_buffer("codes", torch::randn({codes, width}, device));
  }
  torch::Tensor forward(const torch::Tensor& ids) { return codes_.index_select(0, ids); }

 private:
  torch::Tensor codes_;
};
TORCH_MODULE(Codebook);
