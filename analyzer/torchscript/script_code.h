// What the Python-like code of a TorchScript archive does with devices. It is read, never run.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace devsan::lint {

enum class ScriptUse {
  kPlaces,  // an accelerator is named: `torch.zeros(..., device=torch.device("cuda:0"))`
  kMeets,   // what is bound to the CPU enters an op with what follows an input or a parameter
};

// A device that the code is bound to.
struct ScriptDevice {
  ScriptUse use = ScriptUse::kPlaces;
  std::size_t begin = 0;  // of `torch.device(...)` or `CONSTANTS.c0` in the code, in bytes
  std::size_t end = 0;
  std::string device;       // "cuda:0"
  std::string callee;       // what it is given to: "torch.zeros"
  std::size_t call = 0;     // where that begins
  std::size_t meeting = 0;  // where the two meet: the begin of the op's name
  std::string op;           // "torch.add"
  std::string constant;     // "c0" when it is one
};

// The devices in the order of the code, each once. `pinned` tells of `CONSTANTS.<name>` whether it
// is a tensor with dimensions on the CPU. What the code's grammar does not cover is passed over.
std::vector<ScriptDevice> script_devices(std::string_view code,
                                         const std::function<bool(std::string_view)>& pinned);

}  // namespace devsan::lint
