// Operators that PyTorch has for CUDA alone, computed by what it has for the CPU. Each takes and
// returns CPU tensors: a RedirectKernel stands before it.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

#include <string>
#include <vector>

namespace devsan::sim {

struct Replacement {
  const char* name;      // "aten::cudnn_convolution"
  const char* overload;  // "" for the default one
  c10::KernelFunction kernel;
};

using Replacements = std::vector<Replacement>;

template <typename Function>
void replace(Replacements& list, const char* name, const char* overload, Function* function) {
  list.push_back({name, overload, c10::KernelFunction::makeFromUnboxedRuntimeFunction(function)});
}

void add_convolutions(Replacements& list);
void add_normalizations(Replacements& list);
void add_sync_batch_norms(Replacements& list);
void add_dropouts(Replacements& list);
void add_grids(Replacements& list);
void add_attentions(Replacements& list);
void add_recurrent_cells(Replacements& list);
void add_recurrent(Replacements& list);

// The function pointers by which at::lstm and its kin reach cuDNN.
void set_recurrent_stubs();

}  // namespace devsan::sim
