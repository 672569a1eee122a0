// libcudnn.so.9: version, handles and descriptors, and in a probe the size queries, whose answers
// PyTorch allocates by. Every computation is in the generated part and throws.
#include <cudnn.h>

#include <cstdio>
#include <cstring>

#include "simulator/core/not_emulated.h"
#include "simulator/core/probe.h"
#include "simulator/stand_ins/handles.h"

using devsan::sim::make_handle;

namespace {

cudnnStatus_t status(int code) {
  return code == 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

cudnnStatus_t destroy(void* handle) {
  std::free(handle);
  return CUDNN_STATUS_SUCCESS;
}

// A size in bytes for a probe: enough that a buffer exists.
cudnnStatus_t probed_size(const char* function, size_t* bytes, size_t value) {
  if (!devsan::sim::probing()) throw devsan::sim::NotEmulated(function);
  if (bytes != nullptr) *bytes = value;
  return CUDNN_STATUS_SUCCESS;
}

template <typename Result>
cudnnStatus_t probed_algorithm(const char* function, int requested, int* returned,
                               Result* results) {
  if (!devsan::sim::probing()) throw devsan::sim::NotEmulated(function);
  std::memset(static_cast<void*>(results), 0,
              sizeof *results * static_cast<std::size_t>(requested));
  *returned = 1;
  return CUDNN_STATUS_SUCCESS;
}

constexpr size_t kSomeBytes = 4096;

}  // namespace

DEVSAN_LIBRARY_API size_t cudnnGetVersion() {
  return CUDNN_VERSION;
}

DEVSAN_LIBRARY_API size_t cudnnGetCudartVersion() {
  return CUDART_VERSION;
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int* value) {
  *value = type == MAJOR_VERSION   ? CUDNN_MAJOR
           : type == MINOR_VERSION ? CUDNN_MINOR
                                   : CUDNN_PATCHLEVEL;
  return CUDNN_STATUS_SUCCESS;
}

DEVSAN_LIBRARY_API const char* cudnnGetErrorString(cudnnStatus_t code) {
  return code == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS"
                                      : "CUDNN_STATUS_NOT_SUPPORTED (devsan simulator)";
}

DEVSAN_LIBRARY_API void cudnnGetLastErrorString(char* message, size_t bytes) {
  if (bytes != 0) std::snprintf(message, bytes, "not emulated by the devsan simulator");
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return status(make_handle(handle));
}
DEVSAN_LIBRARY_API cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  return destroy(handle);
}

#define DEVSAN_DESCRIPTOR(kind)                                    \
  DEVSAN_LIBRARY_API cudnnStatus_t cudnnCreate##kind##Descriptor(  \
      cudnn##kind##Descriptor_t* descriptor) {                     \
    return status(make_handle(descriptor));                        \
  }                                                                \
  DEVSAN_LIBRARY_API cudnnStatus_t cudnnDestroy##kind##Descriptor( \
      cudnn##kind##Descriptor_t descriptor) {                      \
    return destroy(descriptor);                                    \
  }

DEVSAN_DESCRIPTOR(Tensor)
DEVSAN_DESCRIPTOR(Filter)
DEVSAN_DESCRIPTOR(Convolution)
DEVSAN_DESCRIPTOR(Activation)
DEVSAN_DESCRIPTOR(Dropout)
DEVSAN_DESCRIPTOR(RNN)
DEVSAN_DESCRIPTOR(RNNData)
DEVSAN_DESCRIPTOR(Pooling)
DEVSAN_DESCRIPTOR(CTCLoss)
DEVSAN_DESCRIPTOR(SpatialTransformer)

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, int requested, int* returned, cudnnConvolutionFwdAlgoPerf_t* results) {
  return probed_algorithm("cudnnConvolutionForward", requested, returned, results);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, int requested, int* returned,
    cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return probed_algorithm("cudnnConvolutionBackwardData", requested, returned, results);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t, int requested, int* returned,
    cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return probed_algorithm("cudnnConvolutionBackwardFilter", requested, returned, results);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t, size_t* bytes) {
  return probed_size("cudnnConvolutionForward", bytes, 0);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionBwdDataAlgo_t, size_t* bytes) {
  return probed_size("cudnnConvolutionBackwardData", bytes, 0);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t, cudnnConvolutionBwdFilterAlgo_t, size_t* bytes) {
  return probed_size("cudnnConvolutionBackwardFilter", bytes, 0);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnActivationDescriptor_t, size_t* bytes) {
  return probed_size("cudnnBatchNormalizationForwardTrainingEx", bytes, 0);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnActivationDescriptor_t, size_t* bytes) {
  return probed_size("cudnnBatchNormalizationBackwardEx", bytes, 0);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnActivationDescriptor_t,
    cudnnTensorDescriptor_t, size_t* bytes) {
  return probed_size("cudnnBatchNormalizationForwardTrainingEx", bytes, 0);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, size_t* bytes) {
  return probed_size("cudnnDropoutGetStatesSize", bytes, kSomeBytes);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t,
                                                           cudnnForwardMode_t,
                                                           cudnnRNNDataDescriptor_t, size_t* work,
                                                           size_t* reserve) {
  probed_size("cudnnRNNForward", work, 0);
  return probed_size("cudnnRNNForward", reserve, kSomeBytes);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t,
                                                            size_t* bytes) {
  return probed_size("cudnnRNNForward", bytes, kSomeBytes);
}

DEVSAN_LIBRARY_API cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t, cudnnCTCLossAlgo_t,
                                                                 cudnnCTCLossDescriptor_t,
                                                                 cudnnTensorDescriptor_t,
                                                                 cudnnTensorDescriptor_t,
                                                                 size_t* bytes) {
  return probed_size("cudnnCTCLoss_v8", bytes, 0);
}
