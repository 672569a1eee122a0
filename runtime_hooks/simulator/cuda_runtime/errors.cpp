// The thread's last error, and the texts of all errors.
#include <cstdio>
#include <string>

#include "simulator/core/not_emulated.h"
#include "simulator/cuda_runtime/api.h"

namespace devsan::sim {
namespace {

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};

// Made from the CUDA runtime that the shim stands in for.
constexpr ErrorText kErrorTexts[] = {
#include "cuda_error_texts.inc"
};

thread_local cudaError_t last_error = cudaSuccess;

const ErrorText* find_text(cudaError_t error) {
  for (const ErrorText& entry : kErrorTexts) {
    if (entry.code == static_cast<int>(error)) return &entry;
  }
  return nullptr;
}

}  // namespace

cudaError_t answer(Status status) {
  const auto error = static_cast<cudaError_t>(status);
  // "Not ready" is an answer, not an error: CUDA does not keep it.
  if (status != Status::kSuccess && status != Status::kNotReady) last_error = error;
  return error;
}

}  // namespace devsan::sim

using devsan::sim::last_error;

DEVSAN_CUDA_API cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

DEVSAN_CUDA_API cudaError_t cudaPeekAtLastError() {
  return last_error;
}

DEVSAN_CUDA_API const char* cudaGetErrorName(cudaError_t error) {
  const auto* entry = devsan::sim::find_text(error);
  return entry != nullptr ? entry->name : "unrecognized error code";
}

DEVSAN_CUDA_API const char* cudaGetErrorString(cudaError_t error) {
  const auto* entry = devsan::sim::find_text(error);
  if (entry == nullptr) return "unrecognized error code";
  const std::string_view missing = devsan::sim::last_not_supported();
  if (error != cudaErrorNotSupported || missing.empty()) return entry->text;
  // CUDA's texts live as long as the process; this one lives until the thread asks again.
  thread_local std::string named;
  named = std::string(entry->text) + " (devsan simulator: " + std::string(missing) +
          " is not emulated)";
  return named.c_str();
}

// What the generated bodies of the remaining exports call.
extern "C" int devsan_missing_cudart(const char* name) {
  devsan::sim::not_supported(name);
  return devsan::sim::answer(devsan::sim::Status::kNotSupported);
}
