// Which of PyTorch's messages speak of devices. Texts are PyTorch's own.
#include "core/messages.h"

#include <gtest/gtest.h>

namespace devsan::trace {
namespace {

TEST(Messages, SpeakOfDevices) {
  for (const char* text : {
           "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
           "and cuda:1!",
           "Expected all tensors to be on the same device, but got mat2 is on cuda:0, different "
           "from other "
           "tensors on cuda:1 (when checking argument in method wrapper_CUDA_mm)",
           "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the "
           "same",
           "Input type (CPUFloatType) and weight type (CUDAFloatType) should be the same or input "
           "should be a "
           "MKLDNN tensor and weight is a dense tensor",
           "indices should be either on cpu or on the same device as the indexed tensor (cuda:0)",
           "Expected object of device type cuda but got device type cpu for argument #1 'self'",
           "Expected tensor for argument #1 'input' to have the same device as tensor for argument "
           "#2 'weight'; "
           "but device 0 does not equal 1 (while checking arguments for cudnn_convolution)",
           "Tensor for argument #2 'mat1' is on CPU, but expected it to be on GPU",
           "Function MixBackward returned an invalid gradient at index 0 - expected device cuda:0 "
           "but got cuda:1",
           "No backend type associated with device type cpu",
           "Tensor on device cpu is not on the expected device meta!",
       }) {
    EXPECT_TRUE(speaks_of_devices(text)) << text;
  }
}

TEST(Messages, SpeakOfOtherThings) {
  for (const char* text : {
           "mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)",
           "The size of tensor a (4) must match the size of tensor b (5) at non-singleton "
           "dimension 1",
           "index 9 is out of bounds for dimension 0 with size 3",
           "Input type (torch.cuda.HalfTensor) and weight type (torch.cuda.FloatTensor) should be "
           "the same",
           "Expected a 'cuda' device type for generator but found 'cpu'",
           "CUDA error: device-side assert triggered",
           "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 16.00 "
           "GiB",
           "expected scalar type Half but found Float",
           "",
       }) {
    EXPECT_FALSE(speaks_of_devices(text)) << text;
  }
}

// What libraries say of devices when no op has failed: as transformers, torch.nn.parallel, the
// autograd engine and torch itself write it.
TEST(Messages, AreAboutPlacement) {
  for (const char* text : {
           "Calculated loss must be on the original device: cuda:0 but device in use is cuda:1",
           "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found "
           "one of them on device: cpu",
           "DistributedDataParallel device_ids and output_device arguments only work with "
           "single-device/multiple-device GPU modules or CPU modules, but got device_ids [0], "
           "output_device 0, and module parameters {device(type='cpu')}.",
           "DistributedDataParallel's input module must be on the same type of devices, but input "
           "module parameters locate in {'cpu', 'cuda'}.",
           "Function MulBackward0 returned an invalid gradient at index 0 - expected device cuda:0 "
           "but got cuda:1",
           "attempting to assign a gradient located on device with index '\1' to a tensor located "
           "on device with index '",
           "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
           "to host memory first.",
           "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
           "and cpu!",
           "Caught RuntimeError in replica 1 on device 1.\nOriginal Traceback (most recent call "
           "last):\nmust be on device cuda:0 but is on cuda:1",
       }) {
    EXPECT_TRUE(is_about_placement(text)) << text;
  }
}

TEST(Messages, AreNotAboutPlacement) {
  for (const char* text : {
           "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 16.00 "
           "GiB but this device has 3 GiB free",
           "CUDA error: device-side assert triggered",
           "CUDA error: invalid device ordinal",
           "Attempting to deserialize object on CUDA device 3 but torch.cuda.device_count() is 2.",
           "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
           "False.",
           "Expected one of cpu, cuda, ipu, xpu device type at start of device string: cudda",
           "Expected a 'cuda' device type for generator but found 'cpu'",
           "Torch not compiled with CUDA enabled",
           "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
           "must use the 'spawn' start method, not another device",
           "Could not run 'aten::x' with arguments from the 'CUDA' backend on this device, but you "
           "must use the CPU",
           "expected a file in /data/device/cuda:0/x but got none",
           "forward() got an unexpected keyword argument 'device'",
           "'Net' object has no attribute 'device'",
           "mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)",
           "batch must be divisible by the number of devices",
           "\n\n-- Process 1 terminated with the following error:\nTraceback (most recent call "
           "last):\nExpected all tensors to be on the same device, but found at least two devices, "
           "cuda:0 and cpu!",
           "",
       }) {
    EXPECT_FALSE(is_about_placement(text)) << text;
  }
}

TEST(Messages, NameTheDevices) {
  const DevicesInMessage loss = devices_in(
      "Calculated loss must be on the original device: cuda:0 but device in use is cuda:1");
  EXPECT_EQ(loss.expected, "cuda:0");
  EXPECT_EQ(loss.found, "cuda:1");
  const DevicesInMessage module = devices_in(
      "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found one "
      "of them on device: cpu");
  EXPECT_EQ(module.expected, "cuda:0");
  EXPECT_EQ(module.found, "cpu");
  EXPECT_EQ(devices_in("assigned to a tensor on device cuda:0").found, "");
}

TEST(Messages, AreAboutCollectives) {
  for (const char* text : {
           "No backend type associated with device type cpu",
           "Tensors must be CUDA and dense",
           "Tensor found on device cuda:0 but backend constrained to cuda:1",
           "NCCL error in: x.cpp:94, invalid usage (run with NCCL_DEBUG=WARN for details)\n"
           "Last error:\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000",
       }) {
    EXPECT_TRUE(is_about_collective(text)) << text;
  }
  for (const char* text : {
           "NCCL error in: x.cpp:94, remote process exited or there was a network error",
           "Tensor list must be nonempty",
           "invalid tensor type at index 1 (expected Float, got Double)",
       }) {
    EXPECT_FALSE(is_about_collective(text)) << text;
  }
}

TEST(Messages, NameTheArgument) {
  EXPECT_EQ(
      argument_named_in(
          "Expected all tensors to be on the same device, but got mat2 is on cuda:0, different "
          "from other tensors on cuda:1"),
      "mat2");
  EXPECT_EQ(argument_named_in("but found at least two devices, cuda:0 and cuda:1!"), std::nullopt);
}

TEST(Messages, FirstLine) {
  EXPECT_EQ(first_line("one\ntwo"), "one");
}

}  // namespace
}  // namespace devsan::trace
