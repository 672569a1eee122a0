// Which PyTorch is accepted: the very build alone.
#include <gmock/gmock.h>

#include "simulator/core/torch_identity.h"

namespace devsan::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const LibraryId kExpected[] = {{"libc10.so", "aa11", {}}, {"libtorch_cpu.so", "bb22", {}}};
const TorchIdentity kSupported[] = {{"9.9.0", "0123456789abcdef", "libredirect.so", kExpected}};

std::vector<LibraryId> loaded(const char* c10, const char* cpu) {
  return {{"libtorch_cpu.so", cpu, "/nowhere/lib/libtorch_cpu.so"},
          {"libc10.so", c10, "/nowhere/lib/libc10.so"}};
}

TEST(TorchIdentity, TheSameBuildIsAccepted) {
  const TorchIdentity* torch = match_torch(kSupported, loaded("aa11", "bb22"));
  ASSERT_NE(torch, nullptr);
  EXPECT_EQ(torch->redirect, "libredirect.so");
}

TEST(TorchIdentity, OneOtherLibraryIsRefused) {
  EXPECT_EQ(match_torch(kSupported, loaded("aa11", "bb23")), nullptr);
  EXPECT_EQ(match_torch(kSupported, loaded("aa12", "bb22")), nullptr);
}

TEST(TorchIdentity, ALibraryWithoutABuildIdIsRefused) {
  EXPECT_EQ(match_torch(kSupported, loaded("", "bb22")), nullptr);
  const LibraryId nameless[] = {{"libc10.so", "", {}}};
  const TorchIdentity unknown[] = {{"9.9.0", "0123456789abcdef", "libredirect.so", nameless}};
  EXPECT_EQ(match_torch(unknown, loaded("", "bb22")), nullptr);
}

TEST(TorchIdentity, ALibraryThatIsNotLoadedIsRefused) {
  EXPECT_EQ(match_torch(kSupported,
                        std::vector<LibraryId>{{"libc10.so", "aa11", "/nowhere/lib/libc10.so"}}),
            nullptr);
  EXPECT_EQ(match_torch(kSupported, {}), nullptr);
}

TEST(TorchIdentity, TheMessageIsOneLineThatNamesBoth) {
  const std::string message = describe_mismatch(kSupported, loaded("aa11", "bb23"));
  EXPECT_THAT(message, AllOf(HasSubstr("bb23"), HasSubstr("/nowhere/lib/libtorch_cpu.so"),
                             HasSubstr("torch 9.9.0")));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(TorchIdentity, TheBuildKnowsItsOwnPyTorch) {
  ASSERT_EQ(supported_torches().size(), 1u);
  for (const LibraryId& library : supported_torches()[0].libraries)
    EXPECT_EQ(library.build_id.size(), 40u);
  EXPECT_TRUE(loaded_torch_libraries().empty()) << "this test is not linked to PyTorch";
}

}  // namespace
}  // namespace devsan::sim
