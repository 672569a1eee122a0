// forward moves a layer to its input.
#include <torch/torch.h>

struct AutoencoderImpl : torch::nn::Module {
  AutoencoderImpl() {
    encoder = register_module("encoder", torch::nn::Linear(64, 8));
    decoder = register_module("decoder", torch::nn::Linear(8, 64));
  }

  torch::Tensor forward(torch::Tensor x) {
    auto code = encoder->forward(x);
#ifdef FIXED
    return decoder->forward(code.to(decoder->weight.device()));
#else
    decoder->to(code.device());  // fault: module-move-in-forward
    return decoder->forward(code);
#endif
  }

  torch::nn::Linear encoder{nullptr};
  torch::nn::Linear decoder{nullptr};
};
TORCH_MODULE(Autoencoder);
