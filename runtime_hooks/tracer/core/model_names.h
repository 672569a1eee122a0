// Names of parameters and buffers in Python programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/scene.h"

namespace devsan::trace {

struct TensorAddress {
  std::uintptr_t tensor = 0;   // TensorImpl
  std::uintptr_t storage = 0;  // StorageImpl, 0 for none
};

struct ModelNames {
  std::vector<std::optional<std::string>> names;      // one a tensor that was asked for
  std::vector<std::optional<std::string>> variables;  // what the calling frame calls it
  std::vector<Placement> model;                       // the tree that holds them
};

// Asks the running interpreter (python::attached() must hold). `caller` is the frame whose
// variables are looked at. Takes the GIL.
ModelNames python_model_names(const std::vector<TensorAddress>& tensors, const Frame& caller);

// "cuda:1" to a Device; for other text the CPU.
Device parse_device(const std::string& text);

}  // namespace devsan::trace
