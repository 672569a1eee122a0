// Summaries come back from JSON as they were.
#include "summary_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace devsan::lint::test {
namespace {

// Nothing in it has its default value, and no two of a kind the same.
SummaryPlacement example_placement() {
  SummaryPlacement part;
  part.known = true;
  part.rank = Rank::kScalar;
  SummaryPlacement placement;
  placement.known = placement.by_default = placement.names = true;
  placement.rank = Rank::kOfInput;
  using Kind = SummaryDevice::Kind;
  placement.devices = {{Kind::kCpu, 0, {}, {}},
                       {Kind::kCuda, 0, {}, {}},
                       {Kind::kCudaIndex, 3, {}, {}},
                       {Kind::kInput, 0, {"this", "mean_"}, {}},
                       {Kind::kOwn, 2, {}, {false, true, true}},
                       {Kind::kOwn, 3, {}, {true, false, false}}};
  placement.steps = {{"moved here", {"/p/a.cpp", 1, 2, 3, 4}}, {"", {"/p/b.h", 5, 6, 7, 8}}};
  placement.parts = {{"0", part}, {"mask", SummaryPlacement()}};
  return placement;
}

FunctionSummary example_function() {
  FunctionSummary summary;
  summary.result = example_placement();
  summary.effects[{"0"}] = example_placement();
  summary.effects[{"&", "scale"}] = SummaryPlacement();
  Requirement requirement;
  requirement.first = {example_placement(), {"1", "inputs"}, "batch.inputs", false};
  requirement.second = {SummaryPlacement(), {}, "fc", true};
  requirement.op = "operator+";
  requirement.elements = true;
  requirement.when = {{{"0"}, false}, {{"this", "mean_"}, true}};
  requirement.steps = {{"", {"/p/a.cpp", 9, 8, 7, 6}}};
  summary.requirements = {requirement, Requirement()};
  return summary;
}

SummaryTable back(const SummaryTable& table) {
  return summaries_of(nlohmann::json::parse(to_json(table).dump()));
}

TEST(SummaryJson, ComesBackAsItWas) {
  SummaryTable table;
  EXPECT_EQ(back(table), table);
  table.functions["c:@F@f#"] = example_function();
  table.functions["c:@F@unknown#"] = FunctionSummary();
  table.modules["c:@S@Net@/p/net.h:3"].moved_with = {"fc", "norm"};
  table.modules["c:@S@Empty@/p/net.h:9"] = {};
  EXPECT_EQ(back(table), table);
}

TEST(SummaryJson, WhatDiffersReadsDifferently) {
  const auto text = [](const FunctionSummary& summary) {
    SummaryTable table;
    table.functions["f"] = summary;
    return to_json(table).dump();
  };
  FunctionSummary other = example_function();
  other.result.steps.front().place.line = 2;
  EXPECT_NE(text(other), text(example_function()));
}

TEST(SummaryJson, OtherTextIsRefused) {
  for (const char* wrong : {"null", "[]", "[{}]", R"([{"f": [1]}, {}])", R"([{}, {"c": 3}])"}) {
    EXPECT_THROW(summaries_of(nlohmann::json::parse(wrong)), nlohmann::json::exception) << wrong;
  }
}

}  // namespace
}  // namespace devsan::lint::test
