// Rule optimizer-placement: what it reports, and what it must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_optimizers(const std::string& code) {
  return check(code, RuleSet::parse("-*,devsan-optimizer-placement"));
}

std::string train_of(const std::string& body) {
  return "void train(torch::nn::Linear net, torch::nn::Linear other, torch::Device device,\n"
         "           torch::Tensor loss, bool flag) {\n" +
         body + "\n}";
}

class Behind : public ::testing::TestWithParam<const char*> {};

TEST_P(Behind, IsReported) {
  const Checked checked = check_optimizers(train_of(GetParam()));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "optimizer-placement");
}

INSTANTIATE_TEST_SUITE_P(
    AdagradBeforeTheMove, Behind,
    ::testing::Values(
        "torch::optim::Adagrad sums(net->parameters()); net->to(device); sums.step();",
        "torch::optim::Adagrad sums(net->parameters(), torch::optim::AdagradOptions(0.1)); "
        "net->to(torch::kCUDA);",
        "auto sums = std::make_unique<torch::optim::Adagrad>(net->parameters()); net->to(device);",
        "std::unique_ptr<torch::optim::Optimizer> sums = "
        "std::make_unique<torch::optim::Adagrad>(net->parameters()); net->to(device);",
        "torch::optim::Adagrad sums(net->parameters()); if (flag) { net->to(device); }"));

INSTANTIATE_TEST_SUITE_P(
    MoveBeforeStep, Behind,
    ::testing::Values(
        "torch::optim::Adam adam(net->parameters()); loss.backward(); net->to(device); "
        "adam.step();",
        "torch::optim::SGD sgd(net->parameters(), 0.1); for (int i = 0; i < 3; ++i) { "
        "sgd.zero_grad(); loss.backward(); net->to(torch::kCPU); sgd.step(); }"));

TEST(OptimizerPlacement, NamesTheLines) {
  const Checked checked = check_optimizers(
      train_of("torch::optim::Adagrad sums(net->parameters());\nnet->to(device);"));
  EXPECT_THAT(lines(checked), ElementsAre(3));
  ASSERT_THAT(checked.findings[0].path, SizeIs(1));
  EXPECT_EQ(checked.findings[0].path[0].place.line, 4);
  EXPECT_THAT(checked.findings[0].message, HasSubstr("'net'"));
}

TEST(OptimizerPlacement, AConstructorIsRead) {
  const auto agent = [](const std::string& optimizer) {
    return "struct Agent { torch::nn::Linear model_{nullptr}; torch::optim::" + optimizer +
           " optimizer_; Agent(torch::nn::Linear model, torch::Device device) : model_(model), "
           "optimizer_(model_->parameters()) { model_->to(device); } };";
  };
  EXPECT_THAT(check_optimizers(agent("Adagrad")).findings, SizeIs(1));
  EXPECT_THAT(check_optimizers(agent("Adam")).findings, IsEmpty());
}

class InOrder : public ::testing::TestWithParam<const char*> {};

TEST_P(InOrder, IsSilent) {
  EXPECT_THAT(check_optimizers(train_of(GetParam())).findings, IsEmpty());
}

// Module::to keeps the parameter objects, and their state is made by the first step().
INSTANTIATE_TEST_SUITE_P(
    AdamAndSgdBeforeTheMove, InOrder,
    ::testing::Values("torch::optim::Adam adam(net->parameters()); net->to(device); adam.step();",
                      "torch::optim::SGD sgd(net->parameters(), 0.1); net->to(device); "
                      "sgd.step();",
                      "auto adam = std::make_unique<torch::optim::Adam>(net->parameters()); "
                      "net->to(device);"));

INSTANTIATE_TEST_SUITE_P(
    Adagrad, InOrder,
    ::testing::Values(
        "net->to(device); torch::optim::Adagrad sums(net->parameters()); sums.step();",
        // another module; a dtype; where it is already
        "torch::optim::Adagrad sums(net->parameters()); other->to(device);",
        "torch::optim::Adagrad sums(net->parameters()); net->to(torch::kFloat);",
        "torch::optim::Adagrad sums(net->parameters()); net->to(torch::kCPU);",
        // built anew
        "auto sums = std::make_unique<torch::optim::Adagrad>(net->parameters()); net->to(device); "
        "sums = std::make_unique<torch::optim::Adagrad>(net->parameters());",
        // not on one way
        "if (flag) { torch::optim::Adagrad sums(net->parameters()); sums.step(); } else { "
        "net->to(device); }"));

INSTANTIATE_TEST_SUITE_P(
    Steps, InOrder,
    ::testing::Values(
        "torch::optim::Adam adam(net->parameters()); loss.backward(); adam.step(); "
        "net->to(device);",
        "torch::optim::Adam adam(net->parameters()); net->to(device); loss.backward(); "
        "adam.step();",
        // the gradients are dropped
        "torch::optim::Adam adam(net->parameters()); loss.backward(); net->to(device); "
        "net->zero_grad(); adam.step();",
        // there and back, to save it
        "torch::optim::Adam adam(net->parameters()); loss.backward(); net->to(torch::kCPU); "
        "net->to(device); adam.step();",
        // in a branch of its own
        "torch::optim::Adam adam(net->parameters()); loss.backward(); if (flag) { "
        "net->to(device); } adam.step();"));

// One finding, load-without-device's.
TEST(OptimizerPlacement, LoadsAreReportedOnce) {
  const Checked checked = check(
      "void f(std::string path, torch::nn::Linear net, torch::Device device) { net->to(device); "
      "torch::optim::Adagrad sums(net->parameters()); torch::load(sums, path); sums.step(); }");
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "load-without-device");
}

}  // namespace
}  // namespace devsan::lint::test
