// What is common to every loop of training: which parameters learn, and how fast.
#pragma once

#include <torch/nn/module.h>
#include <torch/optim/adamw.h>

#include <cstdint>
#include <vector>

namespace models {

// The parameters that need a gradient, in the order of their registration.
std::vector<torch::Tensor> trained_parameters(const torch::nn::Module& model);

// The rate of step `step`, counted from 0: linear warm-up, then constant. A schedule that falls
// would have to know how long a run will be.
void set_learning_rate(torch::optim::AdamW& optimizer, double rate, std::int64_t step,
                       std::int64_t warmup_steps);

}  // namespace models
