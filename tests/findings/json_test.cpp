// JSON: what is written is read back whole, and what is not ours is refused in one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "devsan/findings/writers.h"
#include "samples.h"

namespace devsan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string json_of(const std::vector<Finding>& findings) {
  std::ostringstream out;
  write_json(out, findings);
  return out.str();
}

TEST(Json, ReadsBackWhatItWrote) {
  EXPECT_THAT(read_json(json_of({sample_run_finding(), sample_lint_finding()})),
              ElementsAre(sample_run_finding(), sample_lint_finding()));
  EXPECT_THAT(read_json(json_of({})), ElementsAre());
}

TEST(Json, KeepsTheNamesOfTheContract) {
  const std::string text = json_of({sample_run_finding()});
  for (const char* key : {"\"tool\": \"devsan\"",
                          "\"version\"",
                          "\"findings\"",
                          "\"rule\"",
                          "\"level\"",
                          "\"message\"",
                          "\"file\"",
                          "\"line\"",
                          "\"column\"",
                          "\"path\"",
                          "\"label\"",
                          "\"device\"",
                          "\"stack\"",
                          "\"function\"",
                          "\"fixes\"",
                          "\"rank\"",
                          "\"world_size\"",
                          "\"step\"",
                          "\"op\"",
                          "\"name\"",
                          "\"sequence\"",
                          "\"backward\"",
                          "\"arguments\"",
                          "\"dtype\"",
                          "\"shape\"",
                          "\"parameter\": null",
                          "\"odd\"",
                          "\"forward_stack\""}) {
    EXPECT_THAT(text, HasSubstr(key));
  }
}

TEST(Json, SurvivesBadUtf8InASourceLine) {
  Finding finding = sample_lint_finding();
  finding.message = "caf\xe9";
  EXPECT_THAT(read_json(json_of({finding}))[0].message, "caf\xef\xbf\xbd");
}

TEST(Json, RefusesWhatIsNotOurs) {
  const auto refuses = [](const char* text, const char* why) {
    EXPECT_THAT([&] { read_json(text); }, ThrowsMessage<std::runtime_error>(HasSubstr(why)))
        << text;
  };
  refuses("{", "not a report of DevSan");
  refuses("[]", "not a report of DevSan");
  refuses(R"({"tool": "other", "findings": []})", "\"tool\" is not \"devsan\"");
  refuses(R"({"tool": "devsan", "findings": [{"rule": "devsan-nonsense"}]})",
          "no rule 'devsan-nonsense'");
  refuses(R"({"tool": "devsan", "findings": [{"rule": "devsan-dropped-move", "level": "loud"}]})",
          "'loud' is not note, warning or error");
}

TEST(Json, CountsComeBack) {
  Finding finding = sample_run_finding();
  finding.rule = "rank-affinity";
  finding.level = Level::kWarning;
  finding.run->count = 6;
  finding.run->bytes = 147456;
  finding.run->steps = 3;
  finding.run->own_device = "cuda:1";
  std::ostringstream out;
  write_json(out, {&finding, 1});
  const std::vector<Finding> read = read_json(out.str());
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0], finding);
}

TEST(Json, AProcessSaysWhichItIs) {
  const ReportedProcess process{4711, 1, 2, std::nullopt, "cuda:1"};
  std::ostringstream out;
  write_json(out, {}, &process);
  const auto json = nlohmann::json::parse(out.str()).at("process");
  EXPECT_EQ(json, nlohmann::json::parse(R"({"pid": 4711, "rank": 1, "world_size": 2,
                                            "local_rank": null, "own_device": "cuda:1"})"));
  EXPECT_TRUE(read_json(out.str()).empty());
}

}  // namespace
}  // namespace devsan
