// The launch policy: nothing in a probe, a named error everywhere else; and the current device of a
// thread.
#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "simulator/core/kernels.h"
#include "simulator/core/machine.h"
#include "simulator/core/not_emulated.h"
#include "simulator/core/probe.h"

namespace devsan::sim {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Before the first look at the machine.
[[maybe_unused]] const int options_are_set =
    setenv("DEVSAN_OPTIONS", "simulate=2", /*overwrite=*/1);

constexpr Dim3 kOne{1, 1, 1};

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    machine().kernels().add(&kernel_, "_ZN5model7softmaxEPfi");
    set_current_device(0);
  }

  static inline int kernel_ = 0;  // its address stands for the host function
};

TEST_F(LaunchTest, ThrowsTheKernelsNameAsItIsWritten) {
  EXPECT_THAT([] { launch(&kernel_, kOne, kOne, nullptr); },
              ThrowsMessage<NotEmulated>(
                  HasSubstr("CUDA kernel model::softmax(float*, int) is not emulated")));
}

TEST_F(LaunchTest, AFunctionThatWasNeverRegisteredIsSaidToBeSo) {
  const int unknown = 0;
  EXPECT_THAT([&] { launch(&unknown, kOne, kOne, nullptr); },
              ThrowsMessage<NotEmulated>(HasSubstr("not registered")));
}

TEST_F(LaunchTest, IsAcceptedInAProbeAndThrowsAgainAfterIt) {
  {
    const ProbeScope outer;
    {
      const ProbeScope inner;
      EXPECT_EQ(launch(&kernel_, kOne, kOne, nullptr), Status::kSuccess);
    }
    EXPECT_EQ(launch(&kernel_, kOne, kOne, nullptr), Status::kSuccess);
  }
  EXPECT_THROW(launch(&kernel_, kOne, kOne, nullptr), NotEmulated);
}

TEST_F(LaunchTest, AProbeIsOneThreads) {
  const ProbeScope probe;
  bool threw = false;
  std::thread([&] {
    try {
      launch(&kernel_, kOne, kOne, nullptr);
    } catch (const NotEmulated&) {
      threw = true;
    }
  }).join();
  EXPECT_TRUE(threw);
}

TEST_F(LaunchTest, ChecksWhatCudaChecksFirst) {
  const ProbeScope probe;
  const StreamHandle elsewhere = machine().streams().create(1, 0, 0);
  EXPECT_EQ(launch(&kernel_, kOne, kOne, elsewhere), Status::kInvalidResourceHandle);
  EXPECT_EQ(launch(&kernel_, {0, 1, 1}, kOne, nullptr), Status::kInvalidConfiguration);
  EXPECT_EQ(launch(&kernel_, kOne, {64, 32, 1}, nullptr), Status::kInvalidConfiguration);
}

TEST(CurrentDevice, IsOfEachThreadAndStartsAtZero) {
  EXPECT_EQ(set_current_device(1), Status::kSuccess);
  int in_thread = -1;
  std::thread([&] { in_thread = current_device(); }).join();
  EXPECT_EQ(in_thread, 0);
  EXPECT_EQ(current_device(), 1);
  EXPECT_EQ(set_current_device(2), Status::kInvalidDevice);
  EXPECT_EQ(set_current_device(-1), Status::kInvalidDevice);
  EXPECT_EQ(current_device(), 1);
}

TEST(PeerAccess, IsSwitchedOnOnce) {
  Machine two(Config{.gpu = find_gpu_model("h100"), .visible = {0, 1}});
  EXPECT_EQ(two.enable_peer_access(0, 0), Status::kInvalidDevice);
  EXPECT_EQ(two.disable_peer_access(0, 1), Status::kPeerAccessNotEnabled);
  EXPECT_EQ(two.enable_peer_access(0, 1), Status::kSuccess);
  EXPECT_EQ(two.enable_peer_access(0, 1), Status::kPeerAccessAlreadyEnabled);
  EXPECT_EQ(two.enable_peer_access(1, 0), Status::kSuccess) << "each direction by itself";
}

}  // namespace
}  // namespace devsan::sim
