// The list of rules that --rules takes.
#include "checks/rule_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

TEST(Rules, DefaultsAreOnAndOptInIsOff) {
  const RuleSet rules = RuleSet::parse("");
  EXPECT_TRUE(rules.dropped_move);
  EXPECT_TRUE(rules.hard_coded_device);
  EXPECT_FALSE(rules.hard_coded_device_set_up);
}

TEST(Rules, EntriesChangeTheDefaultsInOrder) {
  EXPECT_FALSE(RuleSet::parse("-devsan-dropped-move").dropped_move);
  EXPECT_TRUE(RuleSet::parse("-devsan-dropped-move").hard_coded_device);
  const RuleSet only = RuleSet::parse("-*, devsan-dropped-move");
  EXPECT_TRUE(only.dropped_move);
  EXPECT_FALSE(only.hard_coded_device);
  EXPECT_FALSE(RuleSet::parse("devsan-dropped-move,-*").dropped_move);
}

TEST(Rules, OptInIsNamedInFull) {
  EXPECT_FALSE(RuleSet::parse("devsan-*").hard_coded_device_set_up);
  EXPECT_TRUE(RuleSet::parse("devsan-hard-coded-device-setup").hard_coded_device_set_up);
}

TEST(Rules, UnknownNameSaysWhatIsAccepted) {
  try {
    RuleSet::parse("devsan-dropped-moves");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'devsan-dropped-moves'"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("devsan-hard-coded-device"));
  }
}

TEST(Rules, OffMeansSilent) {
  const std::string code = "torch::Tensor f(torch::Tensor x) { x.to(x); return x.to(\"cuda:0\"); }";
  EXPECT_THAT(check(code).findings, ::testing::SizeIs(2));
  EXPECT_THAT(check(code, RuleSet::parse("-*")).findings, ::testing::IsEmpty());
  const Checked one = check(code, RuleSet::parse("-devsan-hard-coded-device"));
  ASSERT_THAT(one.findings, ::testing::SizeIs(1));
  EXPECT_EQ(one.findings[0].rule, "dropped-move");
}

}  // namespace
}  // namespace devsan::lint::test
