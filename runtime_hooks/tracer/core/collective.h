// Rule collective-device: a collective that its backend refused because of devices.
#pragma once

#include "core/scene.h"

namespace devsan::trace {

// What the process knows of its GPUs beside the scene.
struct DeviceUse {
  std::optional<Device> own;  // the one that this rank's collectives use
  Device first;               // where the first tensor of the process came to a GPU
  Stack first_use;            // empty: none has
};

// `facts` as for make_finding; its `error` holds PyTorch's message.
Finding make_collective_finding(const Scene& scene, const DeviceUse& use, RunFacts facts);

}  // namespace devsan::trace
