// DEVSAN_OPTIONS: what it takes, what it refuses and with which words.
#include "devsan/run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace devsan {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(RunOptions, DefaultsWhenNothingIsSet) {
  const RunOptions options = parse_run_options("");
  EXPECT_EQ(options.simulate, 0);
  EXPECT_EQ(options.origins, 1);
  EXPECT_EQ(options.on_mismatch, "halt");
}

TEST(RunOptions, ReadsKeysAndTheLaterOneWins) {
  const RunOptions options =
      parse_run_options("simulate=2:origins=0:simulate=4:device_memory=1.5GiB");
  EXPECT_EQ(options.simulate, 4);
  EXPECT_EQ(options.origins, 0);
  EXPECT_EQ(options.device_memory, 1610612736u);
}

TEST(RunOptions, QuotedValuesHoldColons) {
  EXPECT_EQ(parse_run_options("report_dir='/a:b':simulate=1").report_dir, "/a:b");
  EXPECT_EQ(parse_run_options("report_dir=\"/a'b:c\"").report_dir, "/a'b:c");
}

TEST(RunOptions, PrintsWhatItReadsBack) {
  RunOptions options;
  options.simulate = 8;
  options.report_dir = "/tmp/x:y 'z'";
  options.compute_capability = "8.6";
  const RunOptions back = parse_run_options(format_run_options(options));
  EXPECT_EQ(back.simulate, 8);
  EXPECT_EQ(back.report_dir, options.report_dir);
  EXPECT_EQ(back.compute_capability, "8.6");
  EXPECT_EQ(format_run_options(RunOptions{}), "");
}

TEST(RunOptions, RefusesWithOneLineThatSaysWhatIsAccepted) {
  EXPECT_THAT(
      [] { parse_run_options("simulate=65"); },
      ThrowsMessage<std::invalid_argument>("option simulate: '65' is not accepted; give 0..64"));
  EXPECT_THAT([] { parse_run_options("simulate=two"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("give 0..64")));
  EXPECT_THAT([] { parse_run_options("origins=3"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("give 0|1|2")));
  EXPECT_THAT([] { parse_run_options("gpu=h999"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("h100|a100|l4|rtx4090")));
  EXPECT_THAT([] { parse_run_options("compute_capability=nine"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("a version such as 9.0")));
  EXPECT_THAT([] { parse_run_options("simulat=1"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("there are simulate, gpu")));
  EXPECT_THAT([] { parse_run_options("simulate:origins=1"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("'simulate' has no value")));
  EXPECT_THAT([] { parse_run_options("report_dir='/a"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("not closed")));
  EXPECT_THAT([] { parse_run_options("report_dir='/a'b"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("a colon is missing")));
}

TEST(RunOptions, Sizes) {
  EXPECT_EQ(parse_bytes("16384"), 16384u);
  EXPECT_EQ(parse_bytes("80GiB"), 80ull << 30);
  EXPECT_EQ(parse_bytes("2GB"), 2'000'000'000u);
  EXPECT_THROW(parse_bytes("80gigs"), std::invalid_argument);
  EXPECT_THROW(parse_bytes("-1"), std::invalid_argument);
  EXPECT_THROW(parse_bytes(""), std::invalid_argument);
}

TEST(RunOptions, EveryOptionHasHelp) {
  for (const RunOptionInfo& info : run_option_infos()) EXPECT_FALSE(info.help.empty()) << info.name;
}

}  // namespace
}  // namespace devsan
