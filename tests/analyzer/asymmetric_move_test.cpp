// Rule asymmetric-move: what it reports, what it must not, and its fix-it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_moves(const std::string& code, const std::string& more = "") {
  return check(code, RuleSet::parse("-*,devsan-asymmetric-move" + more));
}

std::string function_of(const std::string& body) {
  return "torch::Tensor take(torch::Tensor, torch::Tensor, torch::Tensor, double = 0);\n"
         "torch::Tensor moves(torch::Tensor a, torch::Tensor b, torch::Tensor c) { return "
         "c.to(a.device()); }\n"
         "void fill(torch::Tensor&);\n"
         "void f(torch::Tensor a, torch::Tensor b, torch::Tensor c, torch::Device d, torch::Device "
         "e, torch::jit::Module net, bool flag) { " +
         body + " }";
}

struct Repair {
  const char* before;
  const char* after;
};
class Forgotten : public ::testing::TestWithParam<Repair> {};

TEST_P(Forgotten, IsReportedAndMoved) {
  const Checked checked = check_moves(function_of(GetParam().before));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "asymmetric-move");
  EXPECT_EQ(checked.findings[0].level, Level::kWarning);
  EXPECT_EQ(checked.fixed(), function_of(GetParam().after));
  EXPECT_THAT(check_moves(checked.fixed()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    AsymmetricMove, Forgotten,
    ::testing::Values(
        Repair{"auto w = torch::ones({3}); take(a.to(d), b.to(d), w);",
               "auto w = torch::ones({3}); take(a.to(d), b.to(d), w.to(d));"},
        Repair{"take(a.to(d), torch::rand({3}), b.to(d));",
               "take(a.to(d), torch::rand({3}).to(d), b.to(d));"},
        Repair{"auto x = a.to(d); auto y = b.to(d); auto w = c.cpu(); take(x, y, w);",
               "auto x = a.to(d); auto y = b.to(d); auto w = c.cpu(); take(x, y, w.to(d));"},
        Repair{"auto w = torch::ones({3}); net.forward({a.to(d), b.to(d), w});",
               "auto w = torch::ones({3}); net.forward({a.to(d), b.to(d), w.to(d)});"}));

class Even : public ::testing::TestWithParam<const char*> {};

TEST_P(Even, IsSilent) {
  EXPECT_THAT(check_moves(function_of(GetParam())).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    AsymmetricMove, Even,
    ::testing::Values(
        "take(a.to(d), b.to(d), c.to(d), 1.0);",
        // where it is, is not known
        "take(a.to(d), b.to(d), c);",
        "auto w = torch::ones({3}); if (flag) w = w.to(d); take(a.to(d), b.to(d), w);",
        "auto w = torch::ones({3}); fill(w); take(a.to(d), b.to(d), w);",
        "auto w = torch::ones({3}, d); take(a.to(d), b.to(d), w);",
        // without dimensions
        "auto w = torch::tensor(1.0); take(a.to(d), b.to(d), w);",
        "take(a.to(d), b.to(d), torch::zeros({}));",
        // indices
        "auto order = torch::arange(3); take(a.to(d), b.to(d), order);",
        "auto batch_idx = torch::ones({3}); take(a.to(d), b.to(d), batch_idx);",
        // too few, elsewhere, to the CPU
        "auto w = torch::ones({3}); take(a.to(d), b, w);",
        "auto w = torch::ones({3}); take(a.to(d), b.to(e), w);",
        "auto w = torch::ones({3}); take(a.to(torch::kCPU), b.to(torch::kCPU), w);",
        // moved inside; an op
        "auto w = torch::ones({3}); moves(a.to(d), b.to(d), w);",
        "auto w = torch::ones({3}); torch::where(a.to(d), b.to(d), w);"));

TEST(AsymmetricMove, ParametersAreNotesOfTheOptInPart) {
  const std::string code = function_of("take(a.to(d), b.to(d), c);");
  const Checked checked = check_moves(code, ",devsan-asymmetric-move-unproven");
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].level, Level::kNote);
  EXPECT_THAT(check_moves(function_of("c = c.to(d); take(a.to(d), b.to(d), c);"),
                          ",devsan-asymmetric-move-unproven")
                  .findings,
              IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
