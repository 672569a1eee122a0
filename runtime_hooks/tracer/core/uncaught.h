// An exception that left the program and speaks of devices, although no op raised it: Trainer's
// check of the loss, DataParallel's of its module, DDP's of its parameters, the autograd engine's
// of a gradient. Rule device-mismatch, with the tensors that the raising functions had in hand.
#pragma once

#include "core/scene.h"

namespace devsan::trace {

struct Uncaught {
  std::string type;  // "ValueError"
  std::string message;
  // `op` is the function that raised, `use` the frames it came through, `suspects` the tensors in
  // them: those that the raising statement names first, then by frame, innermost first.
  Scene scene;
  bool tensors_known = true;  // false in C++: nobody can look into frames there
};

// Whether what was in hand bears out that the message is about tensors: PyTorch's own forms need no
// more; else a tensor is on the device that the message objects to, or there are tensors on two.
// Where tensors are not known the message must name both devices.
bool shows_mismatch(const Uncaught& uncaught);

// `facts` as for make_finding; its error is filled in.
Finding make_uncaught_finding(Uncaught uncaught, RunFacts facts);

}  // namespace devsan::trace
