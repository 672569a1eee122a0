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
};

// `facts` as for make_finding; its error is filled in.
Finding make_uncaught_finding(Uncaught uncaught, RunFacts facts);

}  // namespace devsan::trace
