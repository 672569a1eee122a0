// What a call to the simulated machine answers. The numbers are CUDA's own: cudaError_t and
// CUresult agree on all of these, in CUDA 12 and 13 alike, so the shims cast.
#pragma once

namespace devsan::sim {

enum class Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidConfiguration = 9,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidResourceHandle = 400,
  kNotReady = 600,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kNotSupported = 801,
};

}  // namespace devsan::sim
