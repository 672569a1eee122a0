// The probe scope: while it is open on a thread, CUDA work asked for by that thread is accepted and
// not done. PyTorch's own kernels are run in it to hear what they say about their arguments.
#pragma once

namespace devsan::sim {

// True while this thread is inside a ProbeScope.
bool probing();

class ProbeScope {
 public:
  ProbeScope();
  ~ProbeScope();
  ProbeScope(const ProbeScope&) = delete;
  ProbeScope& operator=(const ProbeScope&) = delete;
};

}  // namespace devsan::sim
