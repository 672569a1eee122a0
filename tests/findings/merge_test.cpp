// Findings of several processes: which are one, in what order, and what is said of their ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "devsan/findings/merge.h"
#include "devsan/findings/writers.h"
#include "samples.h"

namespace devsan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Finding on_rank(int rank, std::int64_t collectives, std::int64_t time_us) {
  Finding finding = sample_run_finding();
  finding.run->rank = rank;
  finding.run->world_size = 8;
  finding.run->process = 100 + rank;
  finding.run->collectives = collectives;
  finding.run->time_us = time_us;
  return finding;
}

Finding on_line(Finding finding, int line) {
  finding.place.line = line;
  return finding;
}

std::string text_of(const Finding& finding) {
  std::ostringstream out;
  write_run_text(out, finding);
  return out.str();
}

TEST(Merge, AFaultThatRanksShareIsOneFinding) {
  // The device differs by rank: rank 0's literal cuda:1 is rank 1's own. The mistake is the same.
  Finding other = on_rank(3, 5, 10);
  other.run->arguments[1].device = "cuda:3";
  other.message = "'input' is on cuda:0, the other arguments are on cuda:3";
  const auto merged = merge_findings({on_rank(1, 5, 20), other, on_rank(2, 5, 30)});
  ASSERT_THAT(merged, SizeIs(1));
  EXPECT_EQ(merged[0].run->rank, 3);  // it came first
  EXPECT_THAT(merged[0].run->ranks, ElementsAre(1, 2, 3));
  EXPECT_THAT(text_of(merged[0]), HasSubstr("(ranks 1-3 of 8, first on rank 3, step 0, op 1532)"));
}

TEST(Merge, ACollectiveOrdersWhatClocksCannot) {
  const auto merged =
      merge_findings({on_line(on_rank(0, 7, 10), 1), on_line(on_rank(1, 6, 9999), 2)});
  ASSERT_THAT(merged, SizeIs(2));
  EXPECT_EQ(merged[0].run->rank, 1);
}

TEST(Merge, ErrorsStandBeforeWarnings) {
  Finding warning = on_line(on_rank(0, 0, 0), 1);
  warning.level = Level::kWarning;
  const auto merged = merge_findings({warning, on_rank(1, 9, 9)});
  ASSERT_THAT(merged, SizeIs(2));
  EXPECT_EQ(merged[0].level, Level::kError);
}

TEST(Merge, OneRankThatRepeatsAFaultIsStillOneRank) {
  const auto merged = merge_findings({on_rank(1, 5, 20), on_rank(1, 6, 30)});
  ASSERT_THAT(merged, SizeIs(1));
  EXPECT_THAT(text_of(merged[0]), HasSubstr("(rank 1 of 8, step 0, op 1532)"));
}

TEST(Merge, OtherLinesOpsPassesAndArgumentsAreOtherFaults) {
  Finding op = on_rank(0, 0, 1);
  op.run->op.name = "aten::addmm";
  Finding backward = on_rank(0, 0, 2);
  backward.run->op.backward = true;
  Finding argument = on_rank(0, 0, 3);
  argument.run->arguments[0].name = "weight";
  EXPECT_THAT(
      merge_findings({on_rank(0, 0, 0), on_line(on_rank(0, 0, 4), 9), op, backward, argument}),
      SizeIs(5));
}

TEST(Merge, MergedReportsMergeAgain) {
  const auto low = merge_findings({on_rank(0, 5, 1), on_rank(1, 5, 2)});
  const auto high = merge_findings({on_rank(5, 5, 3), on_rank(1, 5, 4)});
  const auto merged = merge_findings({low[0], high[0]});
  ASSERT_THAT(merged, SizeIs(1));
  EXPECT_THAT(merged[0].run->ranks, ElementsAre(0, 1, 5));
}

TEST(Merge, FindingsOfLintStayOnceEachAndFirst) {
  const auto merged =
      merge_findings({on_rank(0, 0, 0), sample_lint_finding(), sample_lint_finding()});
  ASSERT_THAT(merged, SizeIs(2));
  EXPECT_FALSE(merged[0].run.has_value());
}

TEST(Merge, RanksSurviveJson) {
  const auto merged = merge_findings({on_rank(0, 5, 1), on_rank(1, 5, 2)});
  std::ostringstream text;
  write_json(text, merged);
  EXPECT_EQ(read_json(text.str()), merged);
  EXPECT_THAT(text.str(), HasSubstr("\"ranks\": ["));
}

Finding on_another_device(int rank, const std::string& device) {
  Finding finding = on_line(on_rank(rank, 0, 0), 7);
  finding.rule = "rank-affinity";
  finding.level = Level::kWarning;
  finding.run->arguments = {{"tensor", "Float", {4}, device, std::nullopt, true}};
  return finding;
}

TEST(Refuted, ADeviceOfNobodyElseIsARanksToUse) {
  const std::vector<ReportedProcess> processes{{100, 0, 2, 0, "cuda:0"}, {101, 1, 2, 1, "cuda:2"}};
  std::vector findings{on_another_device(0, "cuda:1"), on_another_device(0, "cuda:2"),
                       on_another_device(1, "cuda:0"), on_another_device(1, "cuda:2")};
  drop_what_others_refute(findings, processes);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].run->arguments[0].device, "cuda:2");
  EXPECT_EQ(findings[1].run->arguments[0].device, "cuda:0");
}

TEST(Refuted, AnErrorOnTheLineSaysItAlready) {
  const std::vector<ReportedProcess> processes{{100, 0, 2, 0, "cuda:0"}, {101, 1, 2, 1, "cuda:1"}};
  std::vector findings{on_another_device(1, "cuda:0"), on_line(on_rank(1, 0, 0), 7)};
  drop_what_others_refute(findings, processes);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].rule, "device-mismatch");
}

TEST(Refuted, OtherRulesStay) {
  std::vector findings{on_rank(0, 0, 0), sample_lint_finding()};
  drop_what_others_refute(findings, {});
  EXPECT_THAT(findings, SizeIs(2));
}

TEST(RanksText, RunsOfRanksAreRanges) {
  EXPECT_EQ(ranks_text(std::vector{0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
  EXPECT_EQ(ranks_text({}), "");
}

}  // namespace
}  // namespace devsan
