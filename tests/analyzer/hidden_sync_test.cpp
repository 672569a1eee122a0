// Rule hidden-sync: what it reports, and what it must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_loops(const std::string& code, const std::string& more = "") {
  return check(code, RuleSet::parse("-*,devsan-hidden-sync" + more));
}

// `x` is on a CUDA device, `h` on the CPU, `any` wherever the caller has it.
std::string function_of(const std::string& body) {
  return "void use(float); void take(torch::Tensor); void f(torch::Tensor any, torch::Device "
         "given, "
         "std::vector<torch::Tensor> all) { auto x = torch::rand({9, 9}, torch::kCUDA); auto h = "
         "torch::ones({9}); torch::Device gpu(torch::kCUDA); auto y = any.to(gpu); " +
         body + " }";
}

std::string nested(const std::string& body) {
  return function_of("for (long i = 0; i < 9; ++i) { for (long j = 0; j < 9; ++j) { " + body +
                     " } }");
}

class Waits : public ::testing::TestWithParam<const char*> {};

TEST_P(Waits, InNestedLoopsIsReported) {
  const Checked checked = check_loops(nested(GetParam()));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "hidden-sync");
  EXPECT_EQ(checked.findings[0].level, Level::kWarning);
  EXPECT_THAT(checked.findings[0].message, HasSubstr("nested loops"));
}

INSTANTIATE_TEST_SUITE_P(HiddenSync, Waits,
                         ::testing::Values("use(x[i][j].item<float>());",
                                           "use(y.sum().item<float>());", "take(x[i].cpu());",
                                           "take(y.to(torch::kCPU));", "take(x.nonzero());",
                                           "if (torch::equal(x, any)) use(1);",
                                           "take(h.to(torch::kCUDA));", "take(h.to(gpu));"));

TEST(HiddenSync, EveryKindOfLoopCounts) {
  EXPECT_THAT(check_loops(function_of("for (auto& one : all) { do { use(x.item<float>()); } while "
                                      "(true); }"))
                  .findings,
              SizeIs(1));
  EXPECT_THAT(check_loops(function_of("while (true) while (true) use(x.item<float>());")).findings,
              SizeIs(1));
}

class Fine : public ::testing::TestWithParam<std::string> {};

TEST_P(Fine, IsSilent) {
  EXPECT_THAT(check_loops(GetParam()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    HiddenSync, Fine,
    ::testing::Values(
        function_of("use(x.item<float>());"),
        function_of("for (long i = 0; i < 9; ++i) use(x[i].item<float>());"),
        // evaluated once
        function_of("for (auto& one : all) { for (long j = x.item<long>(); j < 9; ++j) use(j); }"),
        nested("use(h[i].item<float>());"), nested("take(h.cpu());"),
        nested("use(any.item<float>());"), nested("if (j == 8) use(x.item<float>());"),
        nested("auto late = [&] { use(x.item<float>()); }; late();"),
        // another tensor, or another device, in every turn
        nested("auto part = h[i]; take(part.to(gpu));"), nested("h = h.to(gpu);"),
        nested("h = torch::ones({9}); take(h.to(gpu));"), nested("take(x.to(gpu));"),
        function_of("for (auto one : all) for (auto d : {gpu}) take(h.to(d));"),
        function_of("for (long i = 0; i < 9; ++i) take(h.to(gpu));")));

TEST(HiddenSync, WhatIsNotCertainIsANoteOfTheOptInPart) {
  const std::string opt_in = ",devsan-hidden-sync-unproven";
  for (const std::string& code :
       {function_of("for (auto& one : all) use(one.item<float>());"),
        nested("use(any.item<float>());"), nested("if (j == 8) use(x.item<float>());"),
        nested("take(any.to(given));")}) {
    const Checked checked = check_loops(code, opt_in);
    ASSERT_THAT(checked.findings, SizeIs(1)) << code;
    EXPECT_EQ(checked.findings[0].level, Level::kNote);
    EXPECT_THAT(check_loops(code).findings, IsEmpty()) << code;
  }
  EXPECT_THAT(check_loops(nested("use(h[i].item<float>());"), opt_in).findings, IsEmpty());
  EXPECT_THAT(check_loops(function_of("use(x.item<float>());"), opt_in).findings, IsEmpty());
  EXPECT_THAT(
      check_loops(function_of("for (auto& one : all) take(one.to(given));"), opt_in).findings,
      IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
