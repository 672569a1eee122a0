// Rule module-move-in-forward: what it reports, what it must not, and its fix-it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_moves(const std::string& code) {
  return check(code, RuleSet::parse("-*,devsan-module-move-in-forward"));
}

std::string forward_of(const std::string& body) {
  return "struct Net : torch::nn::Module { torch::nn::Linear fc{nullptr}; "
         "std::vector<torch::nn::Linear> layers; bool ready; torch::Device where{torch::kCPU}; "
         "torch::Tensor forward(torch::Tensor x, const torch::Tensor& c, bool flag) { " +
         body + " } };";
}

class Moved : public ::testing::TestWithParam<const char*> {};

TEST_P(Moved, InForwardIsReported) {
  const Checked checked = check_moves(forward_of(GetParam()));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "module-move-in-forward");
}

INSTANTIATE_TEST_SUITE_P(
    ModuleMoveInForward, Moved,
    ::testing::Values("fc->to(x.device()); return fc(x);", "fc->to(c.device()); return fc(x);",
                      "fc->to(torch::kCUDA); return fc(x);", "layers[0]->to(x.device()); return x;",
                      "for (auto& layer : layers) layer->to(x.device()); return x;",
                      // a condition that does not remember
                      "if (flag) fc->to(x.device()); return fc(x);",
                      "auto run = [&] { fc->to(x.device()); return fc(x); }; return run();"));

TEST(ModuleMoveInForward, MovesTheInputInstead) {
  const Checked checked = check_moves(forward_of("fc->to(x.device()); return fc(x);"));
  EXPECT_EQ(checked.fixed(),
            forward_of("x = x.to(fc->parameters().front().device()); return fc(x);"));
  EXPECT_THAT(check_moves(checked.fixed()).findings, IsEmpty());
  const Checked constant = check_moves(forward_of("fc->to(c.device()); return fc(x);"));
  EXPECT_THAT(constant.findings[0].fixes, IsEmpty());
  EXPECT_THAT(constant.findings[0].advice, HasSubstr("move the input"));
}

class Kept : public ::testing::TestWithParam<const char*> {};

TEST_P(Kept, IsSilent) {
  EXPECT_THAT(check_moves(forward_of(GetParam())).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    FirstCall, Kept,
    ::testing::Values("if (!ready) { fc->to(x.device()); ready = true; } return fc(x);",
                      "if (where != x.device()) { fc->to(x.device()); where = x.device(); } return "
                      "fc(x);",
                      "if (fc->weight.device() != x.device()) fc->to(x.device()); return fc(x);"));

INSTANTIATE_TEST_SUITE_P(
    NoMoveOfAMember, Kept,
    ::testing::Values("x = x.to(c.device()); return fc(x);",
                      "torch::nn::Linear made(2, 2); made->to(x.device()); return made(x);",
                      "fc->to(torch::kFloat); return fc(x);"));

std::string train_of(const std::string& body) {
  return "void train(torch::nn::Linear net, std::vector<torch::nn::Linear> layers, torch::Tensor "
         "x, "
         "torch::Device d, bool flag) { " +
         body + " }";
}

TEST(ModuleMoveInLoop, OfWhatComesFromOutsideIsReported) {
  const Checked checked =
      check_moves(train_of("for (int i = 0; i < 9; ++i) { net->to(x.device()); net(x); }"));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].message, HasSubstr("the loop moves 'net'"));
  EXPECT_EQ(checked.fixed(), train_of("for (int i = 0; i < 9; ++i) { x = "
                                      "x.to(net->parameters().front().device()); net(x); }"));
}

TEST(ModuleMoveInLoop, OtherMovesAreSilent) {
  for (const char* body :
       {"net->to(x.device()); while (flag) net(x);",
        "for (int i = 0; i < 9; ++i) { net->to(d); net(x); }",
        "for (auto& layer : layers) layer->to(x.device());",
        "while (flag) { torch::nn::Linear fresh(2, 2); fresh->to(x.device()); }",
        "while (flag) { if (flag) { net->to(x.device()); flag = false; } }",
        "while (flag) { if (net->weight.device() != x.device()) net->to(x.device()); }"}) {
    EXPECT_THAT(check_moves(train_of(body)).findings, IsEmpty()) << body;
  }
}

TEST(ModuleMoveInForward, OutsideForwardIsSilent) {
  EXPECT_THAT(check_moves("struct Net : torch::nn::Module { torch::nn::Linear fc{nullptr}; void "
                          "place(torch::Device d) { fc->to(d); } };")
                  .findings,
              IsEmpty());
  EXPECT_THAT(check_moves("struct Plain { torch::nn::Linear fc{nullptr}; torch::Tensor forward("
                          "torch::Tensor x) { fc->to(x.device()); return x; } };")
                  .findings,
              IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
