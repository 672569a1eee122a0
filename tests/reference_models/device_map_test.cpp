// Which device a name gets, how a model is split by bytes, and what is said of a wrong map or
// device.
#include "common/device_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/devices.h"
#include "common/usage_error.h"

namespace models {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const c10::Device kCpu(c10::kCPU);
const c10::Device kCuda0(c10::kCUDA, 0);
const c10::Device kCuda1(c10::kCUDA, 1);
const c10::Device kCuda2(c10::kCUDA, 2);

template <typename Call>
std::string usage_error(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

TEST(DeviceMap, LongestPrefixDecides) {
  const DeviceMap map(
      {{"encoder", kCuda0}, {"encoder.block.1", kCuda1}, {"encoder.block.1.layer.1", kCpu}});
  EXPECT_EQ(map.device_for("encoder.final_layer_norm.weight"), kCuda0);
  EXPECT_EQ(map.device_for("encoder.block.1.layer.0.SelfAttention.q.weight"), kCuda1);
  EXPECT_EQ(map.device_for("encoder.block.1.layer.1.DenseReluDense.wo.weight"), kCpu);
  EXPECT_EQ(map.device_for("encoder.block.1"), kCuda1);
}

TEST(DeviceMap, APrefixIsOfWholeComponents) {
  const DeviceMap map({{"encoder", kCuda0}, {"encoder.block.1", kCuda1}});
  EXPECT_EQ(map.device_for("encoder.block.10.layer.0"), kCuda0);
}

TEST(DeviceMap, EmptyEntryCoversEverything) {
  const DeviceMap map({{"", kCuda0}, {"classifier", kCuda1}});
  EXPECT_EQ(map.device_for("shared.weight"), kCuda0);
  EXPECT_EQ(map.device_for("classifier.bias"), kCuda1);
}

TEST(DeviceMap, NamesWhatNothingCovers) {
  const DeviceMap map({{"encoder", kCuda0}});
  EXPECT_EQ(usage_error([&] { map.device_for("classifier.weight"); }),
            "device map: no entry covers 'classifier.weight'");
}

TEST(DeviceMap, ReadsJson) {
  const DeviceMap map = DeviceMap::from_json(R"({"": "cpu", "encoder.block.0": "cpu"})");
  EXPECT_EQ(map.entries().size(), 2U);
  EXPECT_EQ(map.device_for("encoder.block.0.layer.0"), kCpu);
}

TEST(DeviceMap, RefusesOtherJson) {
  for (const char* text : {"", "[1]", "{", "\"cpu\""}) {
    EXPECT_THAT(usage_error([&] { DeviceMap::from_json(text); }),
                StartsWith("a device map is a JSON object"));
  }
  EXPECT_EQ(usage_error([] { DeviceMap::from_json(R"({"shared": 0})"); }),
            "device map: the device of 'shared' is not a string");
  EXPECT_THAT(usage_error([] { DeviceMap::from_json(R"({"shared": "gpu"})"); }),
              HasSubstr("'gpu' is not a device"));
}

TEST(InferDeviceMap, BalancesBytesInOrder) {
  const std::vector<ModelPart> parts{{"shared", 10}, {"b0", 100}, {"b1", 100},
                                     {"b2", 100},    {"b3", 100}, {"head", 1}};
  const auto entries = infer_device_map(parts, {kCuda0, kCuda1}).entries();
  EXPECT_EQ(entries.at("shared"), kCuda0);
  EXPECT_EQ(entries.at("b0"), kCuda0);
  EXPECT_EQ(entries.at("b1"), kCuda0);
  EXPECT_EQ(entries.at("b2"), kCuda1);
  EXPECT_EQ(entries.at("b3"), kCuda1);
  EXPECT_EQ(entries.at("head"), kCuda1);
}

TEST(InferDeviceMap, AGreatPartStandsAlone) {
  const std::vector<ModelPart> parts{{"a", 1}, {"b", 1}, {"great", 100}, {"c", 1}};
  const auto entries = infer_device_map(parts, {kCuda0, kCuda1, kCuda2}).entries();
  EXPECT_EQ(entries.at("b"), kCuda0);
  EXPECT_EQ(entries.at("great"), kCuda1);
  EXPECT_EQ(entries.at("c"), kCuda2);
}

TEST(InferDeviceMap, EveryDeviceGetsAPart) {
  const std::vector<ModelPart> parts{{"great", 1000}, {"a", 0}, {"b", 0}};
  const auto entries = infer_device_map(parts, {kCuda0, kCuda1, kCuda2}).entries();
  EXPECT_EQ(entries.at("great"), kCuda0);
  EXPECT_EQ(entries.at("a"), kCuda1);
  EXPECT_EQ(entries.at("b"), kCuda2);
}

TEST(InferDeviceMap, RefusesMoreDevicesThanParts) {
  EXPECT_EQ(usage_error([] { infer_device_map({{"a", 1}}, {kCuda0, kCuda1}); }),
            "a model of 1 parts cannot be split over 2 devices");
  EXPECT_EQ(usage_error([] { infer_device_map({{"a", 1}}, {}); }),
            "a model of 1 parts cannot be split over 0 devices");
}

TEST(Devices, AListIsRead) {
  EXPECT_THAT(parse_devices("cpu"), ::testing::ElementsAre(kCpu));
}

TEST(Devices, AWrongSpellingIsNamed) {
  for (const std::string text :
       {"", "gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:0x", "CPU", " cpu"}) {
    EXPECT_EQ(usage_error([&] { parse_device(text); }),
              "'" + text + "' is not a device; accepted: cpu, cuda:N");
  }
}

TEST(Devices, AnAbsentDeviceIsNamedWithThosePresent) {
  EXPECT_THAT(usage_error([] { parse_devices("cpu,cuda:99"); }),
              StartsWith("there is no device cuda:99; there are: cpu"));
}

TEST(Devices, NoneIsNamedTwice) {
  EXPECT_EQ(usage_error([] { parse_devices("cpu,cpu"); }), "device cpu is named twice");
}

}  // namespace
}  // namespace models
