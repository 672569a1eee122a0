// The CUDA runtime's interface over the simulated machine, as a C++ program calls it.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "simulator/core/probe.h"

namespace {

using testing::HasSubstr;

[[maybe_unused]] const int options_are_set =
    setenv("DEVSAN_OPTIONS", "simulate=2:device_memory=1GiB", /*overwrite=*/1);

class CudaRuntimeTest : public testing::Test {
 protected:
  CudaRuntimeTest() {
    cudaSetDevice(0);
    cudaGetLastError();
  }

  void* allocate(std::size_t bytes) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, bytes), cudaSuccess);
    return pointer;
  }
};

TEST_F(CudaRuntimeTest, CountsAndDescribesItsDevices) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_EQ(properties.totalGlobalMem, std::size_t{1} << 30);
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
}

TEST_F(CudaRuntimeTest, KeepsTheLastErrorUntilItIsTaken) {
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaRuntimeTest, HasNvidiasTextsForErrors) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress),
               "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(98765)), "unrecognized error code");
}

TEST_F(CudaRuntimeTest, WhatIsNotEmulatedIsNamedInTheErrorsText) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_THAT(cudaGetErrorString(cudaErrorNotSupported),
              HasSubstr("cudaGraphCreate is not emulated"));
}

TEST_F(CudaRuntimeTest, PointerAttributesTellDeviceFromHost) {
  cudaSetDevice(1);
  void* device = allocate(256);
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 256), cudaSuccess);
  int ordinary = 0;
  cudaSetDevice(0);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, static_cast<char*>(device) + 255);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  cudaPointerGetAttributes(&attributes, pinned);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, pinned);
  cudaPointerGetAttributes(&attributes, &ordinary);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(CudaRuntimeTest, RunsOutOfMemory) {
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, free + 1), cudaErrorMemoryAllocation);
  void* all = allocate(free);
  cudaMemGetInfo(&free, &total);
  EXPECT_EQ(free, 0u);
  EXPECT_EQ(cudaFree(all), cudaSuccess);
}

TEST_F(CudaRuntimeTest, CopiesThroughDeviceMemory) {
  const char text[] = "over there and back";
  char back[sizeof text] = {};
  void* device = allocate(sizeof text);
  ASSERT_EQ(cudaMemcpy(device, text, sizeof text, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(back, device, sizeof text, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_STREQ(back, text);
  EXPECT_EQ(cudaMemcpy(nullptr, device, 1, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  cudaFree(device);
}

TEST_F(CudaRuntimeTest, AProbeLeavesDeviceMemoryAloneAndZeroesWhatIsRead) {
  void* device = allocate(4);
  char value[4] = {1, 2, 3, 4};
  const char other[4] = {9, 9, 9, 9};
  cudaMemcpy(device, value, 4, cudaMemcpyHostToDevice);
  {
    const devsan::sim::ProbeScope probe;
    cudaMemcpy(device, other, 4, cudaMemcpyHostToDevice);
    cudaMemset(device, 7, 4);
    cudaMemcpy(value, device, 4, cudaMemcpyDeviceToHost);
  }
  EXPECT_EQ(std::string(value, 4), std::string(4, '\0'));
  cudaMemcpy(value, device, 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(std::string(value, 4), "\x01\x02\x03\x04");
  cudaFree(device);
}

TEST_F(CudaRuntimeTest, EventsKeepToTheirDevice) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
  cudaSetDevice(1);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(CudaRuntimeTest, DriverFunctionsAreFoundByName) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  ASSERT_EQ(
      cudaGetDriverEntryPointByVersion("cuDeviceGet", &function, 13000, cudaEnableDefault, &found),
      cudaSuccess);
  ASSERT_EQ(found, cudaDriverEntryPointSuccess);
  CUdevice device = -1;
  EXPECT_EQ(reinterpret_cast<decltype(&cuDeviceGet)>(function)(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_NE(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 13000, cudaEnableDefault,
                                             &found),
            cudaSuccess);
}

TEST_F(CudaRuntimeTest, TheDriverNamesWhatItDoesNot) {
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, ""), CUDA_ERROR_NOT_SUPPORTED);
  const char* text = nullptr;
  ASSERT_EQ(cuGetErrorString(CUDA_ERROR_NOT_SUPPORTED, &text), CUDA_SUCCESS);
  EXPECT_THAT(text, HasSubstr("cuModuleLoadData is not emulated"));
}

TEST_F(CudaRuntimeTest, VirtualMemoryIsSharedByItsMappings) {
  constexpr std::size_t kBytes = std::size_t{2} << 20;
  CUmemAllocationProp properties{};
  properties.location.id = 1;
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_EQ(cuMemCreate(&handle, kBytes, &properties, 0), CUDA_SUCCESS);
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  ASSERT_EQ(cuMemAddressReserve(&first, kBytes, 0, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAddressReserve(&second, kBytes, 0, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(first, kBytes, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(second, kBytes, 0, handle, 0), CUDA_SUCCESS);
  reinterpret_cast<char*>(first)[5] = 42;
  EXPECT_EQ(reinterpret_cast<char*>(second)[5], 42);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, reinterpret_cast<void*>(second));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(cuMemUnmap(first, kBytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemUnmap(second, kBytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(first, kBytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(second, kBytes), CUDA_SUCCESS);
}

}  // namespace
