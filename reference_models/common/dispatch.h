// Runs one model over several devices: modules are placed once, by a DeviceMap, and activations
// follow them. What accelerate does with hooks on every module is here one call before a block
// runs.
#pragma once

#include <torch/nn/module.h>

#include "device_map.h"

namespace models {

// Moves each parameter and buffer to the device the map gives its name. The tensors stay the same
// objects, so an optimizer that holds them needs no word of it.
void place(torch::nn::Module& model, const DeviceMap& map);

// Where a module runs: where its first parameter is. The weights are asked rather than the map, so
// that placement and dispatch cannot disagree.
torch::Device device_of(const torch::nn::Module& module);

// Moves activations to the module that runs next. A tensor that is there already is left alone.
template <typename... Tensors>
void bring_to(torch::Device device, Tensors&... activations) {
  ((activations = activations.to(device)), ...);
}

}  // namespace models
