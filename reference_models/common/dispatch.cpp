// Places parameters and buffers by name.
#include "dispatch.h"

namespace models {

void place(torch::nn::Module& model, const DeviceMap& map) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model.named_parameters()) {
    torch::Tensor& tensor = parameter.value();
    tensor.set_data(tensor.to(map.device_for(parameter.key())));
  }
  for (auto& buffer : model.named_buffers()) {
    torch::Tensor& tensor = buffer.value();
    tensor.set_data(tensor.to(map.device_for(buffer.key())));
  }
}

torch::Device device_of(const torch::nn::Module& module) {
  return module.parameters().front().device();
}

}  // namespace models
