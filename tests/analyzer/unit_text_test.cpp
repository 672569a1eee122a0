// A unit's report comes back from the cache as it was, or not at all.
#include "unit_text.h"

#include <gtest/gtest.h>

namespace devsan::lint::test {
namespace {

Finding example_finding() {
  Finding finding;
  finding.rule = "dropped-move";
  finding.level = Level::kError;
  finding.message = "the result of 'cpu' is \"dropped\"\tü";
  finding.place = {"/p/a.cpp", 3, 4, 3, 9};
  PathStep step;
  step.label = "created";
  step.device = "cpu";
  step.note = "a note";
  step.place = {"/p/b.h", 1, 2, 1, 3};
  finding.path.push_back(step);
  finding.why = "why";
  finding.advice = "advice";
  finding.fixes.push_back({{"/p/a.cpp", 3, 4, 3, 4}, "x = "});
  return finding;
}

StoredUnit example() {
  StoredUnit unit;
  unit.report.file = "/p/a.cpp";
  unit.report.failure = "failure";
  unit.report.findings = {example_finding()};
  unit.report.confidence = {5, 4, 3, 2, 1};
  unit.report.missing_headers = {"x.h"};
  unit.report.first_error = "error";
  unit.report.own_files = {"/p/a.cpp", "/p/b.h"};
  unit.report.inferred_flags = true;
  unit.report.allows = {{"/p/a.cpp", 7, "dropped-move", true}};
  unit.report.allows_used = {{"/p/a.cpp", 8, "dropped-move", false}};
  unit.report.functions_over_limit = 6;
  unit.report.summaries.modules["Net"].moved_with = {"fc"};
  unit.report.asked = {"make_mask"};
  unit.report.summaries_used = 9;
  unit.files.read = {{"/p/a.cpp", ~std::uint64_t{1}}, {"/p/b.h", 0}};
  unit.files.absent = {"/p/x.h"};
  unit.files.found = {{"b.h", "/p/b.h"}, {"x.h", ""}};
  unit.own = {"/p/a.cpp"};
  return unit;
}

TEST(UnitText, ComesBackAsItWas) {
  const StoredUnit unit = example();
  const auto text = to_text(unit);
  ASSERT_TRUE(text);
  const auto back = from_text(*text);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->report.file, unit.report.file);
  EXPECT_EQ(back->report.failure, unit.report.failure);
  EXPECT_EQ(back->report.findings, unit.report.findings);
  EXPECT_EQ(back->report.confidence.functions, 5);
  EXPECT_EQ(back->report.confidence.broken_functions, 4);
  EXPECT_EQ(back->report.confidence.statements, 3);
  EXPECT_EQ(back->report.confidence.broken_statements, 2);
  EXPECT_EQ(back->report.confidence.declarations, 1);
  EXPECT_EQ(back->report.missing_headers, unit.report.missing_headers);
  EXPECT_EQ(back->report.first_error, unit.report.first_error);
  EXPECT_EQ(back->report.own_files, unit.report.own_files);
  EXPECT_EQ(back->report.inferred_flags, true);
  EXPECT_EQ(back->report.allows, unit.report.allows);
  EXPECT_EQ(back->report.allows_used, unit.report.allows_used);
  EXPECT_EQ(back->report.functions_over_limit, 6);
  EXPECT_EQ(back->report.summaries, unit.report.summaries);
  EXPECT_EQ(back->report.asked, unit.report.asked);
  EXPECT_EQ(back->report.summaries_used, 9);
  EXPECT_EQ(back->files.read, unit.files.read);
  EXPECT_EQ(back->files.absent, unit.files.absent);
  EXPECT_EQ(back->files.found, unit.files.found);
  EXPECT_EQ(back->own, unit.own);
}

TEST(UnitText, WhatWouldNotComeBackIsNotKept) {
  StoredUnit unit = example();
  unit.report.findings[0].message = "not UTF-8: \xff";
  EXPECT_FALSE(to_text(unit));
  unit = example();
  unit.report.own_files = {"/p/\xff.h"};
  EXPECT_FALSE(to_text(unit));
}

TEST(UnitText, EveryDamageIsSeen) {
  const std::string text = *to_text(example());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(from_text(damaged)) << i;
    EXPECT_FALSE(from_text(text.substr(0, i))) << i;
  }
}

}  // namespace
}  // namespace devsan::lint::test
