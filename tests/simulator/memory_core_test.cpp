// Accounting of device memory, and who owns an address.
#include <gtest/gtest.h>

#include <cstring>

#include "simulator/core/memory.h"

namespace devsan::sim {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class MemoryTest : public testing::Test {
 protected:
  void* allocate(int device, std::size_t bytes) {
    void* pointer = nullptr;
    EXPECT_EQ(memory_.allocate(device, bytes, &pointer), Status::kSuccess);
    return pointer;
  }

  Memory memory_{2, 8 * kMiB};
};

TEST_F(MemoryTest, CountsPerDevice) {
  void* pointer = allocate(1, 2 * kMiB);
  EXPECT_EQ(memory_.use(1).used, 2 * kMiB);
  EXPECT_EQ(memory_.use(1).free(), 6 * kMiB);
  EXPECT_EQ(memory_.use(0).used, 0u);
  EXPECT_EQ(memory_.release(pointer), Status::kSuccess);
  EXPECT_EQ(memory_.use(1).used, 0u);
}

TEST_F(MemoryTest, CanBeWrittenToItsEnd) {
  auto* bytes = static_cast<char*>(allocate(0, 3 * kMiB));
  std::memset(bytes, 7, 3 * kMiB);
  EXPECT_EQ(bytes[3 * kMiB - 1], 7);
}

TEST_F(MemoryTest, RefusesMoreThanIsFree) {
  allocate(0, 6 * kMiB);
  void* pointer = &memory_;
  EXPECT_EQ(memory_.allocate(0, 3 * kMiB, &pointer), Status::kOutOfMemory);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(memory_.use(0).used, 6 * kMiB) << "a refused allocation counts nothing";
  allocate(1, 3 * kMiB);
  allocate(0, 2 * kMiB);
}

TEST_F(MemoryTest, RefusesSizesThatWouldWrap) {
  void* pointer = nullptr;
  EXPECT_EQ(memory_.allocate(0, ~std::size_t{0}, &pointer), Status::kOutOfMemory);
}

TEST_F(MemoryTest, NoBytesAreANullPointer) {
  EXPECT_EQ(allocate(0, 0), nullptr);
  EXPECT_EQ(memory_.release(nullptr), Status::kSuccess);
}

TEST_F(MemoryTest, FindsABlockByAnAddressInItsMiddle) {
  auto* pointer = static_cast<char*>(allocate(1, kMiB));
  const auto block = memory_.find(pointer + kMiB - 1);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->device, 1);
  EXPECT_EQ(block->base, pointer);
  EXPECT_TRUE(block->on_device());
  const auto beyond = memory_.find(pointer + kMiB);
  EXPECT_TRUE(!beyond || beyond->base != pointer);
  int on_the_stack = 0;
  EXPECT_FALSE(memory_.find(&on_the_stack));
}

TEST_F(MemoryTest, ReleasesOnlyWhatItGave) {
  auto* pointer = static_cast<char*>(allocate(0, kMiB));
  EXPECT_EQ(memory_.release(pointer + 1), Status::kInvalidValue);
  EXPECT_EQ(memory_.release_pinned(pointer), Status::kInvalidValue);
  EXPECT_EQ(memory_.release(pointer), Status::kSuccess);
  EXPECT_EQ(memory_.release(pointer), Status::kInvalidValue);
}

TEST_F(MemoryTest, PinnedMemoryIsTheHosts) {
  void* pointer = nullptr;
  ASSERT_EQ(memory_.allocate_pinned(1, kMiB, &pointer), Status::kSuccess);
  EXPECT_EQ(memory_.find(pointer)->kind, MemoryKind::kPinned);
  EXPECT_FALSE(memory_.find(pointer)->on_device());
  EXPECT_EQ(memory_.use(1).used, 0u);
  EXPECT_EQ(memory_.release(pointer), Status::kInvalidValue);
  EXPECT_EQ(memory_.release_pinned(pointer), Status::kSuccess);
}

TEST_F(MemoryTest, RegistersHostMemoryOnce) {
  char buffer[64];
  EXPECT_EQ(memory_.register_host(0, buffer, sizeof buffer), Status::kSuccess);
  EXPECT_EQ(memory_.register_host(0, buffer + 8, 8), Status::kHostMemoryAlreadyRegistered);
  EXPECT_EQ(memory_.find(buffer + 63)->kind, MemoryKind::kRegistered);
  EXPECT_EQ(memory_.unregister_host(buffer), Status::kSuccess);
  EXPECT_EQ(memory_.unregister_host(buffer), Status::kHostMemoryNotRegistered);
}

TEST_F(MemoryTest, ReservedMemoryCountsWithoutAnAddress) {
  EXPECT_EQ(memory_.reserve(0, 6 * kMiB), Status::kSuccess);
  EXPECT_EQ(memory_.reserve(0, 3 * kMiB), Status::kOutOfMemory);
  memory_.unreserve(0, 6 * kMiB);
  EXPECT_EQ(memory_.use(0).used, 0u);
}

}  // namespace
}  // namespace devsan::sim
