// From a task to its vectors.
#include "icv.h"

namespace models::multimodal {

IcvEncoderImpl::IcvEncoderImpl(std::int64_t tasks, std::int64_t layers, std::int64_t width) {
  constexpr double kFirstCoefficient = 0.1;
  task_embedding = register_module("task_embedding", torch::nn::Embedding(tasks, width));
  projection = register_module("projection", torch::nn::Linear(width, layers * width));
  coefficients = register_parameter("coefficients", torch::full({layers}, kFirstCoefficient));
}

torch::Tensor IcvEncoderImpl::forward(const torch::Tensor& task) {
  const torch::Tensor embedded = task_embedding->forward(task);
  const torch::Tensor vectors =
      projection->forward(embedded).unflatten(-1, {coefficients.size(0), -1});
  return vectors * coefficients.unsqueeze(-1);
}

}  // namespace models::multimodal
