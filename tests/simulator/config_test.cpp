// Options and CUDA_VISIBLE_DEVICES: what machine is made of them.
#include "simulator/core/config.h"

#include <gmock/gmock.h>

namespace devsan::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Config config_of(const char* options, const char* visible = nullptr) {
  return make_config(parse_run_options(options), visible);
}

TEST(Config, ModelsHaveTheirMemoryAndCapability) {
  const Config h100 = config_of("simulate=1");
  EXPECT_EQ(h100.gpu.memory, std::uint64_t{80} << 30);
  EXPECT_EQ(h100.gpu.major, 9);
  const Config l4 = config_of("simulate=1:gpu=l4");
  EXPECT_EQ(l4.gpu.memory, std::uint64_t{24} << 30);
  EXPECT_EQ(l4.gpu.major * 10 + l4.gpu.minor, 89);
}

TEST(Config, OptionsOverrideTheModel) {
  const Config config = config_of("simulate=1:gpu=a100:device_memory=2GiB:compute_capability=7.5");
  EXPECT_EQ(config.gpu.memory, std::uint64_t{2} << 30);
  EXPECT_EQ(config.gpu.major * 10 + config.gpu.minor, 75);
}

TEST(Config, RefusesWhatItDoesNotKnow) {
  // Not through the parser of options, which has its own list.
  const auto config_with = [](const char* gpu, int devices, const char* capability) {
    RunOptions options;
    options.gpu = gpu;
    options.simulate = devices;
    options.compute_capability = capability;
    return make_config(options, nullptr);
  };
  EXPECT_THAT([&] { config_with("h200", 1, ""); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("h100, a100, l4, rtx4090")));
  EXPECT_THAT([&] { config_with("h100", 65, ""); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("0 to 64")));
  EXPECT_THAT([&] { config_with("h100", 1, "nine"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("9.0")));
}

TEST(VisibleDevices, AllWithoutTheVariableNoneWhenItIsEmpty) {
  EXPECT_THAT(visible_devices(nullptr, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(visible_devices("", 3), IsEmpty());
}

TEST(VisibleDevices, SelectsAndReorders) {
  EXPECT_THAT(visible_devices("2, 0", 3), ElementsAre(2, 0));
}

TEST(VisibleDevices, StopsAtTheFirstThatIsNotThere) {
  EXPECT_THAT(visible_devices("1,7,0", 3), ElementsAre(1));
  EXPECT_THAT(visible_devices("-1,0", 3), IsEmpty());
}

TEST(VisibleDevices, TwiceTheSameIsNone) {
  EXPECT_THAT(visible_devices("1,1", 3), IsEmpty());
}

TEST(VisibleDevices, TakesUuids) {
  EXPECT_THAT(visible_devices(device_uuid_text(1).c_str(), 3), ElementsAre(1));
  EXPECT_THAT(visible_devices("GPU-4445", 3), IsEmpty()) << "the prefix fits all three";
}

}  // namespace
}  // namespace devsan::sim
