// Which argument of a mixed op is the odd one: the rules, in the order in which they are asked.
//
//  1. An adapter's parameter (LoRA and its kin) that is not where its base layer is.
//  2. A parameter that the user's code moved during a forward pass: it left the place it was given.
//  3. One that was left on the CPU, where others are not. A parameter only when nothing of its
//     model was ever moved: a model split between CPU and GPU is where it is meant to be.
//  4. A tensor, not a parameter, whose device comes from a literal in the user's code, where
//     nothing on the other device does.
//  5. A tensor that is not a parameter, where all parameters are on another device: activations
//     follow weights.
//  6. The one argument that is apart, where at least two others agree.
//  7. In the forward pass, the one that was not computed from parameters (labels, masks, indices),
//     where the other was.
//  8. The one that PyTorch's own check names. PyTorch compares with the first argument, so this
//     alone says little: the verdict is not certain.
//
// 0-dim CPU tensors are left out unless nothing else differs: PyTorch takes them beside any device.
#pragma once

#include <cstddef>
#include <optional>

#include "core/scene.h"

namespace devsan::trace {

enum class Reason {
  kAdapter,
  kMovedInForward,
  kLeftOnCpu,
  kLiteral,
  kNotWithParameters,
  kApart,
  kNotComputed,
  kNamedByPyTorch,
  kUndecided,
};

struct Blame {
  std::optional<std::size_t> odd;  // index of the suspect
  Reason reason = Reason::kUndecided;

  bool certain() const {
    return odd && reason != Reason::kNamedByPyTorch && reason != Reason::kUndecided;
  }
};

Blame find_odd_one(const Scene& scene);

// "encoder.block.2.q" of "encoder.block.2.q.lora_A.weight"; nothing for a parameter of no adapter.
std::optional<std::string> base_layer_of_adapter(const std::string& parameter);

}  // namespace devsan::trace
