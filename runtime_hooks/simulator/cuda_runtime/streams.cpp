// Streams and events, as the core keeps them.
#include <algorithm>
#include <utility>

#include "simulator/cuda_runtime/api.h"

using devsan::sim::answer;
using devsan::sim::current_device;
using devsan::sim::machine;
using devsan::sim::Status;
using devsan::sim::Stream;

namespace {

// Numerically lower is more urgent.
constexpr int kLowestPriority = 0;
constexpr int kHighestPriority = -5;

std::optional<Stream> find(cudaStream_t stream) {
  return machine().streams().find(stream, current_device());
}

cudaError_t known(cudaStream_t stream) {
  return answer(find(stream) ? Status::kSuccess : Status::kInvalidResourceHandle);
}

}  // namespace

DEVSAN_CUDA_API cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  if (lowest != nullptr) *lowest = kLowestPriority;
  if (highest != nullptr) *highest = kHighestPriority;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                         int priority) {
  if (machine().device_count() == 0) return answer(Status::kNoDevice);
  const int clamped = std::max(kHighestPriority, std::min(kLowestPriority, priority));
  *stream = static_cast<cudaStream_t>(machine().streams().create(current_device(), flags, clamped));
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, kLowestPriority);
}

DEVSAN_CUDA_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, kLowestPriority);
}

DEVSAN_CUDA_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return answer(machine().streams().destroy(stream));
}

DEVSAN_CUDA_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  const auto found = find(stream);
  if (!found) return answer(Status::kInvalidResourceHandle);
  *priority = found->priority;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  const auto found = find(stream);
  if (!found) return answer(Status::kInvalidResourceHandle);
  *flags = found->flags;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  const auto found = find(stream);
  if (!found) return answer(Status::kInvalidResourceHandle);
  *id = found->id;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  const auto found = find(stream);
  if (!found) return answer(Status::kInvalidResourceHandle);
  *device = found->device;
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return known(stream);
}

DEVSAN_CUDA_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return known(stream);
}

DEVSAN_CUDA_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return answer(machine().streams().wait(stream, event, current_device()));
}

DEVSAN_CUDA_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                                  cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;  // graphs are not emulated, so no capture can have begun
  return known(stream);
}

DEVSAN_CUDA_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                                     cudaStreamCaptureStatus* status,
                                                     unsigned long long* id, cudaGraph_t*,
                                                     const cudaGraphNode_t**,
                                                     const cudaGraphEdgeData**, size_t*) {
  if (id != nullptr) *id = 0;
  return cudaStreamIsCapturing(stream, status);
}

DEVSAN_CUDA_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  std::swap(*mode, current);
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                                  cudaStreamCallback_t callback, void* user_data,
                                                  unsigned) {
  if (!find(stream)) return answer(Status::kInvalidResourceHandle);
  callback(stream, cudaSuccess, user_data);
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                                               void* user_data) {
  if (!find(stream)) return answer(Status::kInvalidResourceHandle);
  function(user_data);
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (machine().device_count() == 0) return answer(Status::kNoDevice);
  const bool timed = (flags & cudaEventDisableTiming) == 0;
  *event = static_cast<cudaEvent_t>(machine().streams().create_event(current_device(), timed));
  return cudaSuccess;
}

DEVSAN_CUDA_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

DEVSAN_CUDA_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return answer(machine().streams().destroy_event(event));
}

DEVSAN_CUDA_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return answer(machine().streams().record(event, stream, current_device()));
}

DEVSAN_CUDA_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                     unsigned) {
  return cudaEventRecord(event, stream);
}

DEVSAN_CUDA_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return answer(machine().streams().query(event));
}

DEVSAN_CUDA_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return cudaEventQuery(event);
}

DEVSAN_CUDA_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                                 cudaEvent_t end) {
  return answer(machine().streams().elapsed(start, end, milliseconds));
}
