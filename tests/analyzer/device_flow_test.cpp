// Rules unmoved-tensor, mixed-devices and factory-without-device: what they find along the paths of
// a function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_flow(const std::string& code) {
  return check(code, RuleSet::parse("-*,devsan-unmoved-tensor,devsan-mixed-devices,"
                                    "devsan-factory-without-device"));
}

// In a function that is given tensors, a flag, and a device.
std::string function_of(const std::string& body) {
  return "void f(torch::Tensor x, bool flag, torch::Device device, std::string path) { " + body +
         " }";
}

// In forward of a module with a layer and a parameter.
std::string forward_of(const std::string& body) {
  return "struct Net : torch::nn::Module { torch::nn::Linear fc{nullptr}; torch::Tensor weight; "
         "torch::Tensor forward(torch::Tensor x, bool flag) { " +
         body + " } };";
}

// What is expected: the rule, and the text after the fix-its. A null text: nothing is fixed.
struct Found {
  const char* body;
  const char* rule;
  const char* fixed;
};

class InFunction : public ::testing::TestWithParam<Found> {};

TEST_P(InFunction, IsReportedAndFixed) {
  const Checked checked = check_flow(function_of(GetParam().body));
  ASSERT_THAT(checked.findings, SizeIs(1)) << GetParam().body;
  EXPECT_EQ(checked.findings[0].rule, GetParam().rule);
  EXPECT_EQ(checked.findings[0].level, Level::kWarning);
  if (GetParam().fixed == nullptr) {
    EXPECT_THAT(checked.findings[0].fixes, IsEmpty());
    return;
  }
  EXPECT_EQ(checked.fixed(), function_of(GetParam().fixed));
  EXPECT_THAT(check_flow(checked.fixed()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    UnmovedTensor, InFunction,
    ::testing::Values(
        Found{"torch::nn::Linear fc(2, 2); fc->to(torch::kCUDA); fc->forward(torch::ones({2}));",
              "unmoved-tensor",
              "torch::nn::Linear fc(2, 2); fc->to(torch::kCUDA); "
              "fc->forward(torch::ones({2}).to(torch::kCUDA));"},
        // a device that is CUDA where there is one
        Found{"torch::Device d = flag ? torch::kCUDA : torch::kCPU; torch::nn::Linear fc(2, 2); "
              "fc->to(d); auto y = torch::ones({2}); fc(y);",
              "unmoved-tensor",
              "torch::Device d = flag ? torch::kCUDA : torch::kCPU; torch::nn::Linear fc(2, 2); "
              "fc->to(d); auto y = torch::ones({2}); fc(y.to(d));"},
        Found{"torch::Device d(torch::kCPU); if (flag) d = torch::kCUDA; torch::nn::Linear fc(2, "
              "2); fc->to(d); auto y = torch::ones({2}); fc(y);",
              "unmoved-tensor",
              "torch::Device d(torch::kCPU); if (flag) d = torch::kCUDA; torch::nn::Linear fc(2, "
              "2); fc->to(d); auto y = torch::ones({2}); fc(y.to(d));"},
        // a script, its inputs in a vector
        Found{"auto net = torch::jit::load(path); net.to(torch::kCUDA); "
              "std::vector<torch::IValue> in; in.push_back(torch::ones({2})); net.forward(in);",
              "unmoved-tensor",
              "auto net = torch::jit::load(path); net.to(torch::kCUDA); "
              "std::vector<torch::IValue> in; in.push_back(torch::ones({2}).to(torch::kCUDA)); "
              "net.forward(in);"},
        Found{"auto net = torch::jit::load(path, torch::kCUDA); float p[2]; auto y = "
              "torch::from_blob(p, {2}); net.forward({y});",
              "unmoved-tensor",
              "auto net = torch::jit::load(path, torch::kCUDA); float p[2]; auto y = "
              "torch::from_blob(p, {2}); net.forward({y.to(torch::kCUDA)});"},
        // two tensors
        Found{"auto a = torch::ones({2}).cuda(); auto b = torch::ones({2}); a + b;",
              "unmoved-tensor",
              "auto a = torch::ones({2}).cuda(); auto b = torch::ones({2}); a + b.to(a.device());"},
        Found{"auto a = torch::ones({2}, torch::kCUDA); torch::cat({a, a.cpu()});",
              "unmoved-tensor",
              "auto a = torch::ones({2}, torch::kCUDA); torch::cat({a, a.cpu().to(a.device())});"},
        Found{"auto a = x.to(torch::kCUDA); auto b = torch::ones({2}, torch::kLong); "
              "a.matmul(b);",
              "unmoved-tensor",
              "auto a = x.to(torch::kCUDA); auto b = torch::ones({2}, torch::kLong); "
              "a.matmul(b.to(a.device()));"},
        // options of another tensor, a dtype-only move, a copy
        Found{"auto a = x.cuda(); auto b = torch::ones({2}).to(torch::kLong).clone(); a.matmul(b);",
              "unmoved-tensor",
              "auto a = x.cuda(); auto b = torch::ones({2}).to(torch::kLong).clone(); "
              "a.matmul(b.to(a.device()));"},
        Found{"auto a = x.cuda(); auto b = torch::zeros({2}, a.cpu().options()); a.matmul(b);",
              "unmoved-tensor",
              "auto a = x.cuda(); auto b = torch::zeros({2}, a.cpu().options()); "
              "a.matmul(b.to(a.device()));"},
        // asked and found
        Found{"if (x.is_cuda()) { auto b = torch::ones({2}); x.matmul(b); }", "unmoved-tensor",
              "if (x.is_cuda()) { auto b = torch::ones({2}); x.matmul(b.to(x.device())); }"},
        Found{"TORCH_CHECK(x.is_cuda(), \"\"); auto b = torch::ones({2}); x.matmul(b);",
              "unmoved-tensor",
              "TORCH_CHECK(x.is_cuda(), \"\"); auto b = torch::ones({2}); "
              "x.matmul(b.to(x.device()));"},
        Found{"if (x.device().type() != torch::kCUDA) return; auto b = torch::ones({2}); "
              "x.matmul(b);",
              "unmoved-tensor",
              "if (x.device().type() != torch::kCUDA) return; auto b = torch::ones({2}); "
              "x.matmul(b.to(x.device()));"},
        // around a loop
        Found{"auto total = torch::zeros({2}); while (flag) { total = total + x.cuda(); }",
              "unmoved-tensor", nullptr},
        // a layer that nobody moved
        Found{"torch::nn::Linear fc(2, 2); fc(x.cuda());", "unmoved-tensor", nullptr}));

INSTANTIATE_TEST_SUITE_P(
    MixedDevices, InFunction,
    ::testing::Values(
        Found{"auto a = x.to(torch::Device(torch::kCUDA, 0)); auto b = "
              "x.to(torch::Device(\"cuda:1\")); a + b;",
              "mixed-devices",
              "auto a = x.to(torch::Device(torch::kCUDA, 0)); auto b = "
              "x.to(torch::Device(\"cuda:1\")); a + b.to(a.device());"},
        // the current device is number 0 until somebody sets it
        Found{"auto a = x.cuda(); auto b = x.to(torch::Device(torch::kCUDA, 1)); a.matmul(b);",
              "mixed-devices",
              "auto a = x.cuda(); auto b = x.to(torch::Device(torch::kCUDA, 1)); "
              "a.matmul(b.to(a.device()));"},
        Found{"torch::nn::Linear fc(2, 2); fc->to(torch::Device(\"cuda:1\")); auto a = "
              "x.to(torch::Device(\"cuda:0\")); fc(a);",
              "mixed-devices",
              "torch::nn::Linear fc(2, 2); fc->to(torch::Device(\"cuda:1\")); auto a = "
              "x.to(torch::Device(\"cuda:0\")); fc(a.to(torch::Device(\"cuda:1\")));"}));

class InForward : public ::testing::TestWithParam<Found> {};

TEST_P(InForward, IsReportedAtTheFactoryAndFixedThere) {
  const Checked checked = check_flow(forward_of(GetParam().body));
  ASSERT_THAT(checked.findings, SizeIs(1)) << GetParam().body;
  EXPECT_EQ(checked.findings[0].rule, "factory-without-device");
  EXPECT_EQ(checked.fixed(), forward_of(GetParam().fixed));
  EXPECT_THAT(check_flow(checked.fixed()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    FactoryWithoutDevice, InForward,
    ::testing::Values(
        Found{"auto h = torch::zeros({2}); return x + h;", "",
              "auto h = torch::zeros({2}, x.device()); return x + h;"},
        Found{"return x * torch::randn(x.sizes());", "",
              "return x * torch::randn(x.sizes(), x.device());"},
        Found{"auto p = torch::arange(4, torch::kLong); return torch::where(p, x, x);", "",
              "auto p = torch::arange(4, torch::TensorOptions(torch::kLong).device(x.device())); "
              "return torch::where(p, x, x);"},
        Found{"auto p = torch::ones({4}, torch::dtype(torch::kLong)); return torch::cat({x, p});",
              "",
              "auto p = torch::ones({4}, torch::dtype(torch::kLong).device(x.device())); return "
              "torch::cat({x, p});"},
        Found{"auto h = torch::ones({4}); return weight.matmul(h.unsqueeze(0));", "",
              "auto h = torch::ones({4}, weight.device()); return weight.matmul(h.unsqueeze(0));"},
        // an op that worked tells that its arguments agreed
        Found{"return x * weight + torch::ones({4});", "",
              "return x * weight + torch::ones({4}, x.device());"},
        Found{"float p[2]; auto h = torch::from_blob(p, {2}); return x + h;", "",
              "float p[2]; auto h = torch::from_blob(p, {2}).to(x.device()); return x + h;"},
        // on one of two paths
        Found{"torch::Tensor h; if (flag) h = torch::ones({2}); else h = torch::ones_like(x); "
              "return x + h;",
              "",
              "torch::Tensor h; if (flag) h = torch::ones({2}, x.device()); else h = "
              "torch::ones_like(x); return x + h;"}));

TEST(FactoryWithoutDevice, MeetsALayer) {
  const Checked checked = check_flow(forward_of("return fc(torch::zeros({2}));"));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].message, HasSubstr("wherever the module was moved"));
}

TEST(FactoryWithoutDevice, MeetsWhatAModuleOfTheProjectGives) {
  EXPECT_THAT(lines(check_flow(R"(
struct EncoderImpl : torch::nn::Module {
  std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x);
};
TORCH_MODULE(Encoder);
struct Net : torch::nn::Module {
  Encoder encoder{nullptr};
  torch::Tensor forward(torch::Tensor x) {
    const auto [hidden, mask] = encoder->forward(x);
    return hidden + torch::ones({4});
  }
};
)")),
              ElementsAre(10));
}

TEST(DeviceFlow, LambdasAndConstructorsAreFunctionsToo) {
  EXPECT_THAT(lines(check_flow(R"(
void f() {
  auto g = [] {
    return torch::ones({2}).cuda() + torch::ones({2});
  };
}
struct S {
  torch::Tensor a;
  S() : a(torch::ones({2}).cuda()) {
    a.matmul(torch::ones({2}));
  }
};
)")),
              ElementsAre(4, 10));
}

TEST(DeviceFlow, PathTellsWhereEachCameFrom) {
  const Checked checked = check_flow(R"(
void f(torch::Device unused) {
  torch::Device d = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  torch::nn::Linear fc(2, 2);
  fc->to(d);
  auto y = torch::ones({2});
  fc(y);
}
)");
  ASSERT_THAT(checked.findings, SizeIs(1));
  const Finding& finding = checked.findings[0];
  EXPECT_EQ(finding.place.line, 7);
  EXPECT_EQ(finding.message, "'y' is on the CPU where it meets 'fc', which is on 'd', in forward");
  ASSERT_THAT(finding.path, SizeIs(2));
  EXPECT_EQ(finding.path[0].place.line, 6);
  EXPECT_THAT(finding.path[0].label, HasSubstr("made on the CPU, since no device is named"));
  EXPECT_EQ(finding.path[1].place.line, 5);
  EXPECT_THAT(finding.path[1].label, HasSubstr("moved to 'd'"));
}

}  // namespace
}  // namespace devsan::lint::test
