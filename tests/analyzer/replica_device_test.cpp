// Rule replica-device: what it reports, what it must not, and its fix-it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_replicas(const std::string& code) {
  return check(code, RuleSet::parse("-*,devsan-replica-device"));
}

std::string function_of(const std::string& body) {
  return "struct SeenImpl : torch::nn::Cloneable<SeenImpl> { void reset() override {} "
         "torch::Tensor forward(torch::Tensor x) { return torch::relu(x); } };\n"
         "struct MovesImpl : torch::nn::Cloneable<MovesImpl> { void reset() override {} "
         "torch::Tensor forward(torch::Tensor x) { return x.to(where); } torch::Device "
         "where{torch::kCPU}; };\n"
         "struct ElsewhereImpl : torch::nn::Cloneable<ElsewhereImpl> { void reset() override; "
         "torch::Tensor forward(torch::Tensor x); };\n"
         "void f(std::shared_ptr<SeenImpl> model, std::shared_ptr<MovesImpl> moving, "
         "std::shared_ptr<ElsewhereImpl> unseen, torch::nn::Linear linear, "
         "std::vector<torch::Device> devices, torch::Tensor x, std::vector<torch::Tensor> parts) "
         "{ " +
         body + " }";
}

const char* const kClone =
    "auto copy = std::dynamic_pointer_cast<SeenImpl>(model->clone(device)); ";

struct Repair {
  std::string before;
  std::string after;
};
class Shared : public ::testing::TestWithParam<Repair> {};

TEST_P(Shared, IsReportedAndMoved) {
  const Checked checked = check_replicas(function_of(GetParam().before));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "replica-device");
  EXPECT_EQ(checked.fixed(), function_of(GetParam().after));
  EXPECT_THAT(check_replicas(checked.fixed()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    ReplicaDevice, Shared,
    ::testing::Values(Repair{std::string("for (auto device : devices) { ") + kClone +
                                 "copy->forward(x); }",
                             std::string("for (auto device : devices) { ") + kClone +
                                 "copy->forward(x.to(device)); }"},
                      Repair{"for (int i = 0; i < 2; ++i) { auto copy = "
                             "std::dynamic_pointer_cast<torch::nn::LinearImpl>(linear->clone("
                             "torch::Device(torch::kCUDA, i))); copy->forward(x); }",
                             "for (int i = 0; i < 2; ++i) { auto copy = "
                             "std::dynamic_pointer_cast<torch::nn::LinearImpl>(linear->clone("
                             "torch::Device(torch::kCUDA, i))); "
                             "copy->forward(x.to(torch::Device(torch::kCUDA, i))); }"}));

class Replicas : public ::testing::TestWithParam<const char*> {};

TEST_P(Replicas, AreGivenTheSameTensor) {
  EXPECT_THAT(check_replicas(function_of(GetParam())).findings, SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(
    ReplicaDevice, Replicas,
    ::testing::Values("auto copies = torch::nn::parallel::replicate(linear, devices); for (auto& "
                      "copy : copies) copy->forward(x);",
                      "auto copies = torch::nn::parallel::replicate(linear, devices); for (int i = "
                      "0; i < 2; ++i) { copies[i]->forward(x); }"));

class Served : public ::testing::TestWithParam<std::string> {};

TEST_P(Served, IsSilent) {
  EXPECT_THAT(check_replicas(function_of(GetParam())).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    ReplicaDevice, Served,
    ::testing::Values(
        // moved, a part of its own, made or changed in the loop
        std::string("for (auto device : devices) { ") + kClone + "copy->forward(x.to(device)); }",
        std::string("for (auto device : devices) { ") + kClone + "copy->forward(parts[0]); }",
        std::string("for (auto device : devices) { ") + kClone +
            "auto y = x.to(device); copy->forward(y); }",
        std::string("for (auto device : devices) { ") + kClone +
            "x = x.to(device); copy->forward(x); }",
        // one module for all turns, and a copy that stays where the module is
        "for (auto device : devices) { model->forward(x); }",
        "auto copy = std::dynamic_pointer_cast<SeenImpl>(model->clone(devices[0])); for (int i = "
        "0; i < 2; ++i) { copy->forward(x); }",
        "for (auto device : devices) { auto copy = "
        "std::dynamic_pointer_cast<SeenImpl>(model->clone()); copy->forward(x); }",
        // its forward moves what it is given, or is not here
        "for (auto device : devices) { auto copy = "
        "std::dynamic_pointer_cast<MovesImpl>(moving->clone(device)); copy->forward(x); }",
        "for (auto device : devices) { auto copy = "
        "std::dynamic_pointer_cast<ElsewhereImpl>(unseen->clone(device)); copy->forward(x); }"));

std::string class_of(const std::string& constructor, const std::string& reset) {
  return "struct NetImpl : torch::nn::Cloneable<NetImpl> { NetImpl() " + constructor +
         " void reset() override " + reset +
         " void build() { fc = register_module(\"fc\", torch::nn::Linear(2, 2)); } "
         "torch::nn::Linear fc{nullptr}; };";
}

TEST(ReplicaDevice, RegistrationInTheConstructorIsReported) {
  const std::string made = "{ fc = register_module(\"fc\", torch::nn::Linear(2, 2)); }";
  EXPECT_THAT(check_replicas(class_of(made, "{}")).findings, SizeIs(1));
  EXPECT_THAT(
      check_replicas(class_of(": fc(register_module(\"fc\", torch::nn::Linear(2, 2))) {}", "{}"))
          .findings,
      SizeIs(1));
}

TEST(ReplicaDevice, RegistrationInResetIsSilent) {
  const std::string made = "{ fc = register_module(\"fc\", torch::nn::Linear(2, 2)); }";
  EXPECT_THAT(check_replicas(class_of("{ reset(); }", made)).findings, IsEmpty());
  EXPECT_THAT(check_replicas(class_of(made, "{ build(); }")).findings, IsEmpty());
  EXPECT_THAT(check_replicas(class_of(made, ";")).findings, IsEmpty());
  // A plain Module has no clone().
  EXPECT_THAT(check_replicas("struct NetImpl : torch::nn::Module { NetImpl() { fc = "
                             "register_module(\"fc\", torch::nn::Linear(2, 2)); } void reset() {} "
                             "torch::nn::Linear fc{nullptr}; };")
                  .findings,
              IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
