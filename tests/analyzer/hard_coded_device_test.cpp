// Rule hard-coded-device: each form it reports, where it reports it, and its fix-its.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A library that is told where to work, whatever else it does.
Checked check_told(const std::string& code) {
  return check(code + "\nvoid work_on(torch::Device device);\n");
}

// Code of such a library: no main, nothing to fix with.
class Literal : public ::testing::TestWithParam<const char*> {};

TEST_P(Literal, IsReported) {
  const Checked checked = check_told(GetParam());
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "hard-coded-device");
  EXPECT_EQ(checked.findings[0].level, Level::kWarning);
}

INSTANTIATE_TEST_SUITE_P(
    Strings, Literal,
    ::testing::Values(
        "void f() { torch::Device d(\"cuda:0\"); }",
        "void f() { torch::Device d = torch::Device(\"cuda\"); }",
        "void f(torch::nn::Linear m) { m->to(std::string(\"cuda:1\")); }",
        "void f() { torch::zeros({2}, \"cuda:0\"); }",
        "void f() { auto o = torch::TensorOptions().device(\"cuda:0\"); }",
        "auto m() { return torch::jit::load(\"m.pt\", torch::Device(\"cuda:0\")); }"));

INSTANTIATE_TEST_SUITE_P(
    DeviceTypes, Literal,
    ::testing::Values("void f() { torch::Device d(torch::kCUDA, 0); }",
                      "void f() { torch::Device d{torch::kCUDA, 1}; }",
                      "void f() { torch::Device d = torch::kCUDA; }",
                      "void f() { torch::Device d(torch::DeviceType::CUDA); }",
                      "void f() { torch::zeros({2}, torch::kCUDA); }",
                      "void f() { torch::zeros({2}, torch::device(torch::kCUDA)); }",
                      "void f() { torch::zeros({2}, torch::device({torch::kCUDA, 1})); }",
                      "void f() { auto o = torch::TensorOptions().device(torch::kCUDA, 1); }",
                      "void f() { auto o = torch::dtype(torch::kFloat).device(torch::kCUDA); }",
                      "void f(torch::nn::Linear m) { m->to(torch::kCUDA); }",
                      "auto m() { return torch::jit::load(\"m.pt\", torch::kCUDA); }",
                      "torch::Device f() { return torch::kCUDA; }",
                      "struct M : torch::nn::Module { torch::Device d; M() : d(torch::kCUDA) {} };",
                      "void f() { std::vector<torch::Device> all{torch::kCUDA}; }",
                      "static torch::Device global(torch::kCUDA);"));

INSTANTIATE_TEST_SUITE_P(
    Calls, Literal,
    ::testing::Values("torch::Tensor f(torch::Tensor x) { return x.cuda(); }",
                      "torch::Tensor f(torch::Tensor x) { return x.to(torch::kCUDA); }",
                      "torch::Tensor f(torch::Tensor x) { return x.to(\"cuda:0\"); }",
                      "torch::Tensor f(torch::Tensor x) { return x.sum().cuda() + x; }",
                      "void f(torch::Tensor x) { [&] { return x.cuda(); }; }"));

INSTANTIATE_TEST_SUITE_P(
    Through, Literal,
    ::testing::Values(
        // a macro
        "#define DEVICE torch::kCUDA\nvoid f() { torch::zeros({2}, DEVICE); }",
        "#define TO_GPU(x) x.to(torch::kCUDA)\ntorch::Tensor f(torch::Tensor x) { return "
        "TO_GPU(x); }",
        // a constant
        "constexpr auto kDevice = torch::kCUDA; void f() { torch::zeros({2}, kDevice); }",
        "const char* const kName = \"cuda:0\"; void f() { torch::Device d(kName); }",
        "const std::string kName = \"cuda:0\"; void f() { torch::Device d(kName); }",
        "void f() { auto type = torch::kCUDA; torch::Device d(type); }",
        "struct M { static constexpr auto kType = torch::kCUDA; torch::Device d() { return kType; "
        "} };",
        // a default argument
        "void f(torch::Device d = torch::kCUDA);",
        "struct M : torch::nn::Module { explicit M(torch::Device d = torch::Device(\"cuda:0\")); "
        "};",
        // a default member of a module
        "struct M : torch::nn::Module { torch::Device d = torch::kCUDA; };"));

INSTANTIATE_TEST_SUITE_P(
    Branches, Literal,
    ::testing::Values(
        // loses the index: wherever it stands
        "void f(torch::Tensor x) { torch::zeros({2}, x.is_cuda() ? torch::kCUDA : torch::kCPU); }",
        "void f(torch::Tensor x) { torch::Device d(x.device().is_cuda() ? torch::kCUDA : "
        "torch::kCPU); }",
        "void f(torch::Tensor x) { torch::Device d = x.is_cpu() ? torch::kCPU : torch::kCUDA; }",
        "void f(torch::Tensor x) { auto t = x.is_cuda() ? torch::kCUDA : torch::kCPU; "
        "torch::zeros({2}, t); }",
        "void f(torch::Tensor x) { torch::Device d(x.device().type() == torch::kCUDA ? \"cuda\" : "
        "\"cpu\"); }",
        "void f(torch::Tensor x) { auto d = x.is_cuda() ? torch::Device(torch::kCUDA) : "
        "torch::Device(torch::kCPU); }",
        "int main() { torch::Tensor x; torch::zeros({2}, x.is_cuda() ? torch::kCUDA : "
        "torch::kCPU); }",
        // LibTorch's own options are no program's settings
        "torch::Device pick(torch::TensorOptions o) { return torch::Device(torch::kCUDA, 0); }",
        // asking whether there is a GPU does not make it number 0
        "torch::Device pick() { if (torch::cuda::is_available()) return "
        "torch::Device(torch::kCUDA, 0); return torch::kCPU; }",
        // in a module, asking the machine does not make it right
        "struct M : torch::nn::Module { void f() { torch::zeros({2}, torch::cuda::is_available() ? "
        "torch::kCUDA : torch::kCPU); } };",
        "torch::Tensor f(torch::Tensor x) { return x.to(torch::cuda::is_available() ? torch::kCUDA "
        ": torch::kCPU); }"));

TEST(HardCodedDevice, IndexedAndIndexLessInOneFunction) {
  const Checked checked = check(R"(void f(int index) {
  torch::Device d(torch::kCUDA, index);
  torch::zeros({2}, torch::kCUDA);
})");
  ASSERT_THAT(lines(checked), ElementsAre(3));
  EXPECT_THAT(checked.findings[0].message,
              HasSubstr("while a device with an index is named beside it"));
  ASSERT_THAT(checked.findings[0].path, SizeIs(1));
  EXPECT_EQ(checked.findings[0].path[0].place.line, 2);
}

TEST(HardCodedDevice, IndexedAndIndexLessInOneClass) {
  const Checked checked = check(R"(struct Force {
  void initialize(torch::jit::Module& module) { module.to(torch::kCUDA); }
  void execute(int index) { torch::zeros({2}, torch::Device(torch::kCUDA, index)); }
};)");
  ASSERT_THAT(lines(checked), ElementsAre(2));
  ASSERT_THAT(checked.findings[0].path, SizeIs(1));
  EXPECT_EQ(checked.findings[0].path[0].place.line, 3);
}

TEST(HardCodedDevice, WhatItMeetsInAParameterHasAnotherDevicePerhaps) {
  EXPECT_THAT(lines(check("void f(torch::Tensor x) { torch::zeros({2}, torch::kCUDA); }")),
              ElementsAre(1));
}

TEST(HardCodedDevice, MixIsReportedInMainToo) {
  EXPECT_THAT(lines(check("int main() {\n torch::Device d(torch::kCUDA, 1);\n"
                          " torch::zeros({2}, torch::kCUDA);\n}")),
              ElementsAre(3));
}

TEST(HardCodedDevice, ConstantAndMacroAreShown) {
  const Checked constant = check_told(
      "constexpr auto kDevice = torch::kCUDA;\nvoid f() { torch::zeros({2}, kDevice); }");
  ASSERT_THAT(constant.findings, SizeIs(1));
  EXPECT_EQ(constant.findings[0].place.line, 2);
  ASSERT_THAT(constant.findings[0].path, SizeIs(1));
  EXPECT_EQ(constant.findings[0].path[0].place.line, 1);

  const Checked macro =
      check_told("#define DEVICE torch::kCUDA\nvoid f() { torch::zeros({2}, DEVICE); }");
  ASSERT_THAT(macro.findings, SizeIs(1));
  EXPECT_EQ(macro.findings[0].place.line, 2);
  ASSERT_THAT(macro.findings[0].path, SizeIs(1));
}

TEST(HardCodedDevice, EveryUseIsReported) {
  EXPECT_THAT(lines(check(R"(
struct M : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto a = x.cuda();
    auto b = x.to(torch::Device("cuda:1"));
    return a + b.to(torch::kCUDA);
  }
};
)")),
              ElementsAre(4, 5, 6));
}

// ------------------------------------------------------------------------------------------
// fixes

struct Edit {
  const char* before;
  const char* after;
};
class Fixed : public ::testing::TestWithParam<Edit> {};

TEST_P(Fixed, UsesTheDeviceInScopeAndIsThenClean) {
  const Checked checked = check(GetParam().before);
  EXPECT_EQ(checked.fixed(), GetParam().after);
  EXPECT_THAT(check(GetParam().after).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Parameter, Fixed,
    ::testing::Values(
        Edit{"void f(torch::Device device) { torch::zeros({2}, torch::kCUDA); }",
             "void f(torch::Device device) { torch::zeros({2}, device); }"},
        Edit{"void f(const torch::Device& d) { auto o = "
             "torch::dtype(torch::kLong).device(torch::kCUDA, 1); }",
             "void f(const torch::Device& d) { auto o = torch::dtype(torch::kLong).device(d); }"},
        Edit{"void f(torch::nn::Linear m, torch::Device d) { m->to(torch::Device(\"cuda:0\")); }",
             "void f(torch::nn::Linear m, torch::Device d) { m->to(d); }"},
        Edit{"void f(torch::Device d) { torch::Device e(torch::kCUDA, 0); }",
             "void f(torch::Device d) { torch::Device e(d); }"},
        Edit{"void f(torch::Device d) { torch::zeros({2}, torch::device({torch::kCUDA, 1})); }",
             "void f(torch::Device d) { torch::zeros({2}, torch::device({d})); }"},
        Edit{"torch::Tensor f(torch::Tensor x, torch::Device d) { return x.cuda(); }",
             "torch::Tensor f(torch::Tensor x, torch::Device d) { return x.to(d); }"},
        Edit{"void f(torch::TensorOptions o) { torch::zeros({2}, torch::kCUDA); }",
             "void f(torch::TensorOptions o) { torch::zeros({2}, o.device()); }"},
        Edit{"#define DEVICE torch::kCUDA\nvoid f(torch::Device d) { torch::zeros({2}, DEVICE); }",
             "#define DEVICE torch::kCUDA\nvoid f(torch::Device d) { torch::zeros({2}, d); }"}));

INSTANTIATE_TEST_SUITE_P(Member, Fixed,
                         ::testing::Values(Edit{
                             "struct M : torch::nn::Module { torch::Device device_; torch::Tensor "
                             "f(torch::Tensor x) { return x.cuda(); } };",
                             "struct M : torch::nn::Module { torch::Device device_; torch::Tensor "
                             "f(torch::Tensor x) { return x.to(device_); } };"}));

INSTANTIATE_TEST_SUITE_P(
    Tensor, Fixed,
    ::testing::Values(
        Edit{"struct M : torch::nn::Module { torch::Tensor f(torch::Tensor x) { return x + "
             "torch::zeros({2}, torch::kCUDA); } };",
             "struct M : torch::nn::Module { torch::Tensor f(torch::Tensor x) { return x + "
             "torch::zeros({2}, x.device()); } };"},
        Edit{"struct M : torch::nn::Module { torch::Tensor b; torch::Tensor f(torch::Tensor x) { "
             "return x + b.cuda(); } };",
             "struct M : torch::nn::Module { torch::Tensor b; torch::Tensor f(torch::Tensor x) { "
             "return x + b.to(x.device()); } };"},
        Edit{"void f(torch::Tensor x) { torch::zeros({2}, x.is_cuda() ? torch::kCUDA : "
             "torch::kCPU); }",
             "void f(torch::Tensor x) { torch::zeros({2}, x.device()); }"},
        Edit{"void f(torch::Tensor a, torch::Tensor b) { torch::Device d(b.is_cuda() ? "
             "torch::kCUDA : torch::kCPU); }",
             "void f(torch::Tensor a, torch::Tensor b) { torch::Device d(b.device()); }"}));

// A finding, but the device that is meant is not certain.
class NotFixed : public ::testing::TestWithParam<const char*> {};

TEST_P(NotFixed, IsLeftAlone) {
  const Checked checked = check_told(GetParam());
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].fixes, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    HardCodedDevice, NotFixed,
    ::testing::Values(
        "void f() { torch::zeros({2}, torch::kCUDA); }",
        // its own device would make no sense
        "torch::Tensor f(torch::Tensor x) { return x.cuda(); }",
        "torch::Tensor f(torch::Tensor x) { return x.view({1}).to(torch::kCUDA); }",
        // more than one
        "void f(torch::Tensor a, torch::Tensor b) { torch::zeros({2}, torch::kCUDA); }",
        "void f(torch::Device a, torch::Device b) { torch::zeros({2}, torch::kCUDA); }",
        // a lambda need not capture what is outside
        "void f(torch::Device d) { [] { torch::zeros({2}, torch::kCUDA); }; }",
        // the member may not be set yet
        "struct M : torch::nn::Module { torch::Device d; M() : d(torch::kCPU) { torch::zeros({2}, "
        "torch::kCUDA); } };",
        // inside a macro's own text
        "#define MAKE() torch::zeros({2}, torch::kCUDA)\nvoid f(torch::Device d) { MAKE(); }"));

}  // namespace
}  // namespace devsan::lint::test
