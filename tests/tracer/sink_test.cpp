// Where findings go.
#include "core/sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "devsan/findings/writers.h"

namespace devsan::trace {
namespace {

namespace fs = std::filesystem;

Finding finding(const std::string& op, int line) {
  Finding result;
  result.rule = "device-mismatch";
  result.level = Level::kError;
  result.place.file = "me.py";
  result.place.line = line;
  result.run.emplace();
  result.run->op.name = op;
  return result;
}

class SinkTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  std::vector<Finding> written() {
    std::ifstream in(folder_ / (std::to_string(getpid()) + ".json"));
    std::stringstream text;
    text << in.rdbuf();
    return read_json(text.str());
  }
  fs::path folder_ = fs::path(testing::TempDir()) / "sink";
};

TEST_F(SinkTest, WritesAtOnceAndLeavesNoDraft) {
  Sink sink(folder_, /*only_first=*/false);
  sink.publish(finding("aten::a", 1));
  EXPECT_EQ(written().size(), 1u);
  sink.publish(finding("aten::b", 1));
  EXPECT_EQ(written().size(), 2u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(SinkTest, SaysEachCauseOnce) {
  Sink sink(folder_, /*only_first=*/false);
  for (int i = 0; i < 3; ++i) sink.publish(finding("aten::a", 1));
  sink.publish(finding("aten::a", 2));
  EXPECT_EQ(written().size(), 2u);
}

TEST_F(SinkTest, OnlyTheFirst) {
  Sink sink(folder_, /*only_first=*/true);
  EXPECT_TRUE(sink.open());
  sink.publish(finding("aten::a", 1));
  EXPECT_FALSE(sink.open());
  sink.publish(finding("aten::b", 2));
  EXPECT_EQ(written().size(), 1u);
}

}  // namespace
}  // namespace devsan::trace
