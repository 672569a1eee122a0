// The device hides in a macro of a header.
//--- config.h
#pragma once
#include <torch/torch.h>

#define DEFAULT_DEVICE torch::Device(torch::kCUDA, 0)
//--- render.cpp
#include "config.h"

namespace splat {

torch::Tensor project(const torch::Tensor& points, const torch::Tensor& camera) {
#ifdef FIXED
  auto ones = torch::ones({points.size(0), 1}, points.device());
#else
  auto ones = torch::ones({points.size(0), 1}, DEFAULT_DEVICE);  // fault: hard-coded-device
#endif
  return torch::cat({points, ones}, 1).matmul(camera);
}

}  // namespace splat
