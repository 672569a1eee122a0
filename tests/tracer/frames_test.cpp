// Whose code a frame is.
#include "core/frames.h"

#include <gtest/gtest.h>

namespace devsan::trace {
namespace {

TEST(Frames, OwnersOfPython) {
  EXPECT_EQ(owner_of_python("/home/me/train.py"), Owner::kUser);
  EXPECT_EQ(owner_of_python("train.py"), Owner::kUser);
  EXPECT_EQ(owner_of_python("/v/lib/python3.11/site-packages/torch/nn/modules/linear.py"),
            Owner::kInternal);
  EXPECT_EQ(owner_of_python("/v/lib/python3.11/site-packages/torchvision/ops.py"), Owner::kLibrary);
  EXPECT_EQ(owner_of_python("/v/lib/python3.11/site-packages/transformers/trainer.py"),
            Owner::kLibrary);
  EXPECT_EQ(owner_of_python("/usr/lib/python3.11/threading.py"), Owner::kLibrary);
  EXPECT_EQ(owner_of_python("<frozen importlib._bootstrap>"), Owner::kInternal);
  EXPECT_EQ(owner_of_python("<stdin>"), Owner::kUser);
}

TEST(Frames, OwnersOfNative) {
  EXPECT_EQ(owner_of_native("/home/me/train", "Net::forward(at::Tensor)", "/home/me/net.cpp"),
            Owner::kUser);
  EXPECT_EQ(owner_of_native("/home/me/train", "at::Tensor::to(c10::Device) const",
                            "/t/torch/include/ATen/core/TensorBody.h"),
            Owner::kInternal);
  EXPECT_EQ(owner_of_native("/v/torch/lib/libtorch_cpu.so", "at::add(at::Tensor)", ""),
            Owner::kInternal);
  EXPECT_EQ(owner_of_native("/home/me/train", "std::__invoke_impl<void>()",
                            "/usr/include/c++/12/bits/invoke.h"),
            Owner::kInternal);
  EXPECT_EQ(owner_of_native("/home/me/train", "_start", ""), Owner::kInternal);
  EXPECT_EQ(owner_of_native("/usr/lib/x86_64-linux-gnu/libopencv.so", "cv::read()", ""),
            Owner::kLibrary);
}

TEST(Frames, WithoutParameters) {
  EXPECT_EQ(without_parameters("Net::forward(at::Tensor, int) const"), "Net::forward");
  EXPECT_EQ(without_parameters("(anonymous namespace)::run()"), "(anonymous namespace)::run");
  EXPECT_EQ(without_parameters("Functor::operator()(int)"), "Functor::operator()");
  EXPECT_EQ(without_parameters("void call<void (*)(int)>(int)"), "void call<void (*)(int)>");
  EXPECT_EQ(without_parameters("main"), "main");
}

TEST(Frames, Forward) {
  EXPECT_TRUE(is_forward({"Net::forward", "", 0}));
  EXPECT_TRUE(is_forward({"Net.forward", "", 0}));
  EXPECT_FALSE(is_forward({"forward_pass", "", 0}));
}

TEST(Frames, ShowTheUsersAndTheInnermostOfLibraries) {
  const Stack stack = {
      {{"op", "torch", 1}, Owner::kInternal},       {{"hook", "accelerate", 2}, Owner::kLibrary},
      {{"wrap", "accelerate", 3}, Owner::kLibrary}, {{"forward", "me.py", 4}, Owner::kUser},
      {{"train", "trainer", 5}, Owner::kLibrary},   {{"main", "me.py", 6}, Owner::kUser}};
  std::vector<std::string> shown;
  for (const Frame& frame : shown_frames(stack)) shown.push_back(frame.function);
  EXPECT_EQ(shown, (std::vector<std::string>{"hook", "forward", "main"}));
}

}  // namespace
}  // namespace devsan::trace
