// Names of parameters and buffers in C++ programs.
#pragma once

#include <vector>

#include "core/model_names.h"

namespace devsan::trace {

// A torch::nn::Module showed itself: it was moved, trained or asked for its parameters. Only
// modules that a shared_ptr owns are remembered, weakly.
void note_module(const void* module);

// register_parameter or register_buffer: a std::string and an at::Tensor.
void note_registered(const void* name, const void* tensor);

// As python_model_names: the name by the longest path through the modules seen, which is the
// root's; the bare name for a parameter of modules that never showed themselves.
ModelNames cpp_model_names(const std::vector<TensorAddress>& tensors);

}  // namespace devsan::trace
