// Where findings go.
#include "core/sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
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
  std::string text() {
    std::ifstream in(folder_ / (std::to_string(getpid()) + ".json"));
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::vector<Finding> written() { return read_json(text()); }
  static ReportedProcess process() { return {getpid(), {}, {}, {}, {}}; }
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

TEST_F(SinkTest, WarningsStandBehindErrorsAndAreReplaced) {
  Sink sink(folder_, /*only_first=*/true);
  Finding warning = finding("aten::to", 5);
  warning.rule = "silent-move";
  warning.level = Level::kWarning;
  warning.run->count = 1;
  sink.update(process(), {warning});
  sink.publish(finding("aten::a", 1));
  warning.run->count = 2;
  sink.update(process(), {warning});
  const std::vector<Finding> findings = written();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "device-mismatch");
  EXPECT_EQ(findings[1].run->count, 2);
}

TEST_F(SinkTest, AWarningAtTheLineOfAnErrorIsLeftOut) {
  Sink sink(folder_, /*only_first=*/true);
  Finding warning = finding("aten::to", 1);
  warning.rule = "rank-affinity";
  warning.level = Level::kWarning;
  sink.update(process(), {warning});
  EXPECT_EQ(written().size(), 1u);
  sink.publish(finding("aten::a", 1));
  ASSERT_EQ(written().size(), 1u);
  EXPECT_EQ(written()[0].rule, "device-mismatch");
}

TEST_F(SinkTest, SaysWhichProcessItIs) {
  Sink sink(folder_, /*only_first=*/true);
  ReportedProcess rank = process();
  rank.rank = 1;
  rank.own_device = "cuda:1";
  sink.update(rank, {});
  const nlohmann::json json = nlohmann::json::parse(text())["process"];
  EXPECT_EQ(json["pid"], getpid());
  EXPECT_EQ(json["rank"], 1);
  EXPECT_EQ(json["own_device"], "cuda:1");
  EXPECT_TRUE(json["world_size"].is_null());
  EXPECT_TRUE(json["local_rank"].is_null());
}

TEST_F(SinkTest, WritesOnlyWhatIsNew) {
  Sink sink(folder_, /*only_first=*/true);
  sink.update(process(), {});
  fs::remove_all(folder_);
  sink.update(process(), {});
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(SinkTest, KnowsWhatItHasSaid) {
  Sink sink(folder_, /*only_first=*/true);
  EXPECT_FALSE(sink.has_said("cuda:0 and cpu!"));
  Finding error = finding("aten::a", 1);
  error.run->error = "two devices, cuda:0 and cpu!";
  sink.publish(error);
  EXPECT_TRUE(sink.has_said("Caught: two devices, cuda:0 and cpu!"));
  EXPECT_FALSE(sink.has_said("must be on cuda:0 but is on cpu"));
}

}  // namespace
}  // namespace devsan::trace
