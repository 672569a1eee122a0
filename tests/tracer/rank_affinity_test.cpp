// Tensors of a rank on GPUs that are not its own.
#include "core/rank_affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;
using testing::HasSubstr;

Traffic made(int line, Device device, std::int64_t count, const std::string& file = "me.py") {
  Traffic traffic;
  traffic.kind = Origin::Kind::kCreated;
  traffic.from = traffic.to = device;
  traffic.op = "aten::ones";
  traffic.stack = {user("main", line, file)};
  traffic.count = count;
  traffic.bytes = count * 512;
  traffic.steps = 1;
  return traffic;
}

RunFacts rank_1() {
  RunFacts facts;
  facts.rank = 1;
  facts.world_size = 2;
  return facts;
}

TEST(RankAffinity, TheOwnDeviceAndTheCpuAreFine) {
  const std::vector<Traffic> traffic = {made(3, kCuda1, 5), made(4, kCpu, 5)};
  EXPECT_TRUE(rank_affinity(traffic, kCuda1, rank_1()).empty());
}

TEST(RankAffinity, OneFindingForALineMostTensorsFirst) {
  Traffic elsewhere = made(3, kCuda0, 4);
  elsewhere.op = "aten::to";
  const std::vector<Traffic> traffic = {made(9, kCuda0, 1), made(3, kCuda0, 2), elsewhere};
  const std::vector<Finding> findings = rank_affinity(traffic, kCuda1, rank_1());
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "rank-affinity");
  EXPECT_EQ(findings[0].level, Level::kWarning);
  EXPECT_EQ(findings[0].place.line, 3);
  EXPECT_EQ(findings[0].run->count, 6);
  EXPECT_EQ(findings[0].run->own_device, "cuda:1");
  EXPECT_EQ(findings[0].run->arguments.at(0).device, "cuda:0");
  EXPECT_EQ(findings[0].message,
            "6 tensors (3.0 KiB) came to cuda:0 here; this rank's own device is cuda:1");
}

TEST(RankAffinity, NamesTheLiteral) {
  const std::string file =
      source_file(testing::TempDir() + "affinity.py", {"x = torch.ones(3, device=\"cuda:0\")"});
  const std::vector<Traffic> traffic = {made(1, kCuda0, 1, file)};
  EXPECT_THAT(rank_affinity(traffic, kCuda1, rank_1()).at(0).advice, HasSubstr("\"cuda:0\""));
}

}  // namespace
}  // namespace devsan::trace
