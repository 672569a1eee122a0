// Which units are analysed again, in which order and how often. What an analysis would find is
// played: a unit's function gives what the function gives that it calls.
#include "second_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace devsan::lint::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;

FunctionSummary gives_cuda(int index) {
  FunctionSummary summary;
  summary.result.known = true;
  summary.result.devices = {{SummaryDevice::Kind::kCudaIndex, index, {}, {}}};
  return summary;
}

// A file with functions: each gives a device, or what another function gives, by its name.
struct File {
  std::map<std::string, FunctionSummary> made = {};
  std::map<std::string, std::string> passed_on = {};
};

class Project {
 public:
  explicit Project(std::vector<File> files) : files_(std::move(files)) {
    for (const File& file : files_) units.push_back(analysed(file, {}));
    second_pass(units, [this](const std::vector<Again>& round) {
      std::vector<UnitReport> reports;
      rounds.emplace_back();
      for (const auto& [unit, known] : round) {
        rounds.back().push_back(unit);
        reports.push_back(analysed(files_[unit], *known));
      }
      return reports;
    });
  }

  std::vector<int> times() const {
    std::vector<int> times(units.size(), 0);
    for (const auto& round : rounds) {
      for (const std::size_t unit : round) ++times[unit];
    }
    return times;
  }
  const FunctionSummary& summary(std::size_t unit, const std::string& function) const {
    return units[unit].summaries.functions.at(function);
  }

  std::vector<UnitReport> units;
  std::vector<std::vector<std::size_t>> rounds;

 private:
  static UnitReport analysed(const File& file, const SummaryTable& known) {
    UnitReport report;
    report.summaries.functions = file.made;
    for (const auto& [function, callee] : file.passed_on) {
      report.asked.insert(callee);
      const auto entry = known.functions.find(callee);
      report.summaries.functions[function] =
          entry == known.functions.end() ? FunctionSummary() : entry->second;
    }
    return report;
  }

  const std::vector<File> files_;
};

TEST(SecondPass, NoUnitThatCallsNothingKnownIsAnalysedAgain) {
  const Project project({{{{"f", gives_cuda(0)}}, {}},
                         {{{"g", FunctionSummary()}}, {}},
                         {{}, {{"h", "of a library"}, {"i", "g"}}}});
  EXPECT_THAT(project.rounds, IsEmpty());
}

TEST(SecondPass, CallerIsToldWhatItAsksForAndNoMore) {
  const Project project(
      {{{}, {{"caller", "f"}}}, {{{"f", gives_cuda(0)}, {"g", gives_cuda(1)}}, {}}, {}});
  EXPECT_THAT(project.rounds, ElementsAre(ElementsAre(0)));
  EXPECT_EQ(project.summary(0, "caller"), gives_cuda(0));
}

TEST(SecondPass, ChainIsFollowedFromItsEndEachUnitOnce) {
  const Project project({{{}, {{"a", "b"}}},
                         {{}, {{"b", "c"}}},
                         {{}, {{"c", "d"}}},
                         {{}, {{"d", "e"}}},
                         {{{"e", gives_cuda(1)}}, {}}});
  EXPECT_EQ(project.summary(0, "a"), gives_cuda(1));
  EXPECT_THAT(project.times(), ElementsAre(1, 1, 1, 1, 0));
}

TEST(SecondPass, UnitWaitsForThoseItCallsThatLearnSomething) {
  // The first could be told of "leaf" at once, and of "middle" a round later.
  const Project project({{{}, {{"top", "middle"}, {"side", "leaf"}}},
                         {{}, {{"middle", "leaf"}}},
                         {{{"leaf", gives_cuda(0)}}, {}}});
  EXPECT_THAT(project.rounds, ElementsAre(ElementsAre(1), ElementsAre(0)));
  EXPECT_EQ(project.summary(0, "top"), gives_cuda(0));
}

TEST(SecondPass, CircleOfUnitsEnds) {
  const Project project({{{{"a leaf", gives_cuda(0)}}, {{"a", "b"}}},
                         {{{"b leaf", gives_cuda(1)}}, {{"b", "a leaf"}, {"bb", "a"}}}});
  EXPECT_EQ(project.summary(0, "a"), gives_cuda(0));
  EXPECT_EQ(project.summary(1, "bb"), gives_cuda(0));
  EXPECT_THAT(project.times(), Each(Le(3)));
}

TEST(SecondPass, FunctionsThatCallEachOtherStayUnknown) {
  const Project project({{{}, {{"a", "b"}}}, {{}, {{"b", "a"}}}});
  EXPECT_THAT(project.rounds, IsEmpty());
}

TEST(SecondPass, TwoDefinitionsThatDifferAreNotUsed) {
  const Project two(
      {{{}, {{"a", "f"}}}, {{{"f", gives_cuda(0)}}, {}}, {{{"f", gives_cuda(1)}}, {}}});
  EXPECT_THAT(two.rounds, IsEmpty());
  const Project one_unknown(
      {{{}, {{"a", "f"}}}, {{{"f", FunctionSummary()}}, {}}, {{{"f", gives_cuda(1)}}, {}}});
  EXPECT_THAT(one_unknown.rounds, IsEmpty());
  const Project twice_the_same(
      {{{}, {{"a", "f"}}}, {{{"f", gives_cuda(0)}}, {}}, {{{"f", gives_cuda(0)}}, {}}});
  EXPECT_THAT(twice_the_same.rounds, ElementsAre(ElementsAre(0)));
}

TEST(SecondPass, WhatAnEffectOrAnOpSaysIsToldToo) {
  FunctionSummary effect;
  effect.effects[{"0"}] = gives_cuda(0).result;
  FunctionSummary forgets;
  forgets.effects[{"0"}] = SummaryPlacement();
  FunctionSummary part;
  part.result.parts["mask"] = gives_cuda(0).result;
  FunctionSummary op;
  op.requirements.emplace_back();
  const Project project(
      {{{}, {{"a", "effect"}}},
       {{}, {{"b", "forgets"}}},
       {{}, {{"c", "part"}}},
       {{}, {{"d", "op"}}},
       {{{"effect", effect}, {"forgets", forgets}, {"part", part}, {"op", op}}, {}}});
  EXPECT_THAT(project.rounds, ElementsAre(ElementsAre(0, 2, 3)));
}

TEST(SecondPass, ModulesAreToldToo) {
  std::vector<UnitReport> units(3);
  units[0].asked = {"Net"};
  units[1].summaries.modules["Net"].moved_with = {"fc"};
  units[2].summaries.modules["Other"].moved_with = {"fc"};
  std::vector<SummaryTable> told;
  second_pass(units, [&](const std::vector<Again>& round) {
    for (const Again& again : round) told.push_back(*again.known);
    return std::vector<UnitReport>(round.size());
  });
  SummaryTable wanted;
  wanted.modules["Net"].moved_with = {"fc"};
  EXPECT_THAT(told, ElementsAre(wanted, SummaryTable()));
}

}  // namespace
}  // namespace devsan::lint::test
