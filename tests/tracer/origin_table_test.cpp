// The table of origins with real storages, above all when addresses come back.
#include "observer/origin_table.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

namespace devsan::trace {
namespace {

OriginRef named(const char* op) {
  auto origin = std::make_shared<Origin>();
  origin->op = op;
  return origin;
}

c10::StorageImpl* address(const at::Tensor& tensor) {
  return storage_of(tensor.unsafeGetTensorImpl());
}

TEST(OriginTable, FindsWhatWasSet) {
  OriginTable table;
  const at::Tensor tensor = at::empty({4});
  EXPECT_FALSE(table.knows(address(tensor)));
  table.set_made(tensor.storage(), named("a"));
  EXPECT_TRUE(table.knows(address(tensor)));
  EXPECT_STREQ(table.find(address(tensor)).made->op, "a");
}

TEST(OriginTable, ViewsShareTheirStoragesOrigin) {
  OriginTable table;
  const at::Tensor tensor = at::empty({4, 4});
  table.set_made(tensor.storage(), named("a"));
  EXPECT_STREQ(table.find(address(tensor.t())).made->op, "a");
}

TEST(OriginTable, FreedStorageNeverLendsItsOriginToAnother) {
  OriginTable table;
  for (int round = 0; round < 2000; ++round) {
    {
      const at::Tensor dead = at::empty({16});
      table.set_made(dead.storage(), named("dead"));
    }
    // Would get the address of the one just freed, were nothing holding it.
    const at::Tensor fresh = at::empty({16});
    ASSERT_EQ(table.find(address(fresh)).made, nullptr) << "in round " << round;
    ASSERT_FALSE(table.knows(address(fresh)));
  }
}

TEST(OriginTable, DeadEntriesAreSwept) {
  OriginTable table;
  for (int i = 0; i < 20000; ++i) table.set_made(at::empty({1}).storage(), named("dead"));
  EXPECT_LT(table.size(), 2000u);
}

TEST(OriginTable, LiveEntriesSurviveSweeps) {
  OriginTable table;
  std::vector<at::Tensor> live;
  for (int i = 0; i < 1000; ++i) {
    live.push_back(at::empty({1}));
    table.set_made(live.back().storage(), named("live"));
    for (int j = 0; j < 10; ++j) table.set_made(at::empty({1}).storage(), named("dead"));
  }
  for (const at::Tensor& tensor : live) ASSERT_STREQ(table.find(address(tensor)).made->op, "live");
}

TEST(OriginTable, FillingKeepsWhereItWasMade) {
  OriginTable table;
  const at::Tensor tensor = at::empty({4});
  table.set_made(tensor.storage(), named("made"));
  table.set_filled(address(tensor), named("filled"));
  const OriginTable::Found found = table.find(address(tensor));
  EXPECT_STREQ(found.made->op, "made");
  EXPECT_STREQ(found.filled->op, "filled");
}

}  // namespace
}  // namespace devsan::trace
