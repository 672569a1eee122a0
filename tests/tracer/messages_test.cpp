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
