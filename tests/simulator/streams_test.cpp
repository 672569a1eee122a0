// Which stream and event may meet which.
#include <gtest/gtest.h>

#include "simulator/core/streams.h"

namespace devsan::sim {
namespace {

TEST(Streams, BelongToTheDeviceTheyWereMadeOn) {
  Streams streams;
  const StreamHandle stream = streams.create(1, 0, -2);
  EXPECT_EQ(streams.find(stream, 0)->device, 1);
  EXPECT_EQ(streams.find(stream, 0)->priority, -2);
}

TEST(Streams, DefaultStreamsBelongToTheCurrentDevice) {
  const Streams streams;
  for (const std::uintptr_t handle : {0, 1, 2}) {
    EXPECT_EQ(streams.find(reinterpret_cast<StreamHandle>(handle), 1)->device, 1);
  }
}

TEST(Streams, ADestroyedStreamIsUnknown) {
  Streams streams;
  const StreamHandle stream = streams.create(0, 0, 0);
  EXPECT_EQ(streams.destroy(stream), Status::kSuccess);
  EXPECT_FALSE(streams.find(stream, 0));
  EXPECT_EQ(streams.destroy(stream), Status::kInvalidResourceHandle);
}

TEST(Events, AreRecordedOnStreamsOfTheirDeviceAlone) {
  Streams streams;
  const EventHandle event = streams.create_event(0, true);
  const StreamHandle same = streams.create(0, 0, 0);
  const StreamHandle other = streams.create(1, 0, 0);
  EXPECT_EQ(streams.record(event, same, 0), Status::kSuccess);
  EXPECT_EQ(streams.record(event, other, 0), Status::kInvalidResourceHandle);
  EXPECT_EQ(streams.record(event, nullptr, 0), Status::kSuccess);
  EXPECT_EQ(streams.record(event, nullptr, 1), Status::kInvalidResourceHandle);
}

TEST(Events, CanBeWaitedForOnAnyDevice) {
  Streams streams;
  const EventHandle event = streams.create_event(0, true);
  const StreamHandle other = streams.create(1, 0, 0);
  EXPECT_EQ(streams.wait(other, event, 0), Status::kSuccess);
  EXPECT_EQ(streams.destroy_event(event), Status::kSuccess);
  EXPECT_EQ(streams.wait(other, event, 0), Status::kInvalidResourceHandle);
}

TEST(Events, TimePassesBetweenTwoThatWereRecorded) {
  Streams streams;
  const EventHandle start = streams.create_event(0, true);
  const EventHandle end = streams.create_event(0, true);
  float milliseconds = -1;
  streams.record(start, nullptr, 0);
  EXPECT_EQ(streams.elapsed(start, end, &milliseconds), Status::kInvalidResourceHandle)
      << "end is not recorded";
  streams.record(end, nullptr, 0);
  EXPECT_EQ(streams.elapsed(start, end, &milliseconds), Status::kSuccess);
  EXPECT_GE(milliseconds, 0);
}

TEST(Events, WithoutTimingOrOfTwoDevicesHaveNoTimeBetweenThem) {
  Streams streams;
  const EventHandle timed = streams.create_event(0, true);
  const EventHandle untimed = streams.create_event(0, false);
  const EventHandle elsewhere = streams.create_event(1, true);
  streams.record(timed, nullptr, 0);
  streams.record(untimed, nullptr, 0);
  streams.record(elsewhere, nullptr, 1);
  float milliseconds = 0;
  EXPECT_EQ(streams.elapsed(timed, untimed, &milliseconds), Status::kInvalidResourceHandle);
  EXPECT_EQ(streams.elapsed(timed, elsewhere, &milliseconds), Status::kInvalidResourceHandle);
}

}  // namespace
}  // namespace devsan::sim
