// Rules unmoved-tensor, mixed-devices and factory-without-device: what must stay silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_flow(const std::string& code, const std::string& path = "/project/src/code.cpp") {
  return check(code,
               RuleSet::parse("-*,devsan-unmoved-tensor,devsan-mixed-devices,"
                              "devsan-factory-without-device"),
               path);
}

class Legal : public ::testing::TestWithParam<const char*> {};

TEST_P(Legal, InAFunction) {
  EXPECT_THAT(
      check_flow("void helper(torch::Tensor); torch::Tensor pure(torch::Tensor); void change("
                 "torch::Tensor&); void f(torch::Tensor x, torch::Tensor z, bool flag, "
                 "torch::Device device, torch::Device other, std::string path) { " +
                 std::string(GetParam()) + " }")
          .findings,
      IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    CpuScalars, Legal,
    ::testing::Values("x.cuda() + torch::tensor(1.0);", "x.cuda() * torch::scalar_tensor(2);",
                      "x.cuda() + torch::full({}, 0.5);", "x.cuda() + torch::ones({2}).sum();",
                      "x.cuda() * torch::ones({2}).mean();", "x.cuda() + torch::ones({2})[0];",
                      "auto s = torch::ones({2}).sum() * 2.0; x.cuda() + s;"));

INSTANTIATE_TEST_SUITE_P(
    CpuIndices, Legal,
    ::testing::Values("auto i = torch::arange(2); x.cuda()[i];",
                      "auto i = torch::arange(2); x.cuda().index({i});",
                      "auto i = torch::arange(2); auto y = x.cuda(); y.index_put_({i}, y);"));

INSTANTIATE_TEST_SUITE_P(
    CopiesAndShapes, Legal,
    ::testing::Values("auto y = torch::ones({2}); y.copy_(x.cuda());",
                      "auto y = x.cuda(); y.copy_(torch::ones({2}));",
                      "auto y = torch::ones({2}); y.to(x.cuda());",
                      "auto y = torch::ones({2}); y.type_as(x.cuda()) + x.cuda();",
                      "torch::ones({2}).expand_as(x.cuda());",
                      "auto y = torch::zeros_like(x.cuda()); y + x.cuda();",
                      "auto y = x.cuda().new_zeros({2}); y + x.cuda();"));

INSTANTIATE_TEST_SUITE_P(
    UnknownDevices, Legal,
    ::testing::Values("x + torch::ones({2}).cuda();", "pure(torch::ones({2})) + x.cuda();",
                      "auto y = torch::ones({2}); change(y); y + x.cuda();",
                      "auto y = torch::ones({2}); auto g = [&] { y = y.cuda(); }; g(); y + "
                      "x.cuda();",
                      "auto y = torch::ones({2}); auto& z2 = y; z2 = z2.cuda(); y + x.cuda();",
                      "auto net = torch::jit::load(path); net.forward({torch::ones({2})});",
                      "x.to(device) + z.to(other);", "x.to(device) + z;", "x + z;"));

INSTANTIATE_TEST_SUITE_P(
    EqualSymbols, Legal,
    ::testing::Values("x.to(device) + z.to(device);", "x.to(device) + torch::ones({2}, device);",
                      "x + torch::ones({2}, x.device());", "x + torch::ones({2}, x.options());",
                      "torch::Device d = flag ? torch::kCUDA : torch::kCPU; x.to(d) + "
                      "torch::ones({2}, d);",
                      "torch::Device d(torch::kCPU); if (flag) d = torch::kCUDA; x.to(d) + "
                      "torch::ones({2}).to(d);",
                      "auto o = torch::TensorOptions().device(device).dtype(torch::kLong); "
                      "torch::ones({2}, o) + x.to(device);"));

INSTANTIATE_TEST_SUITE_P(
    CurrentDeviceIsNumber0, Legal,
    ::testing::Values("x.cuda() + z.to(torch::Device(\"cuda:0\"));",
                      "x.to(torch::kCUDA) + z.to(torch::Device(torch::kCUDA, 0));"));

INSTANTIATE_TEST_SUITE_P(
    MovedInTime, Legal,
    ::testing::Values(
        "auto y = torch::ones({2}); y = y.to(torch::kCUDA); y + x.cuda();",
        "auto y = torch::ones({2}).cuda(); y + x.cuda();",
        "auto y = torch::ones({2}, torch::TensorOptions().device(torch::kCUDA)); y + x.cuda();",
        "auto y = torch::ones({2}); if (flag) y = y.cuda(); y + x.cuda();",
        "torch::nn::Linear fc(2, 2); fc->to(device); fc(torch::ones({2}, device));",
        "torch::nn::Linear fc(2, 2); fc(torch::ones({2}));",
        // a module without weights has nothing to move
        "torch::nn::ReLU relu; relu(torch::ones({2}, torch::kCUDA));",
        "torch::Tensor y; if (flag) { y = x.cuda(); y + x.cuda(); }",
        "std::vector<torch::IValue> in; in.push_back(torch::ones({2})); in.clear(); "
        "in.push_back(x.cuda()); auto net = torch::jit::load(path, torch::kCUDA); "
        "net.forward(in);"));

INSTANTIATE_TEST_SUITE_P(
    Branches, Legal,
    ::testing::Values(
        "if (x.is_cpu()) { x + torch::ones({2}); }",
        "if (!x.is_cuda()) { x + torch::ones({2}); } else { x + torch::ones({2}).cuda(); }",
        "auto y = torch::ones({2}); if (x.is_cuda()) y = y.to(x.device()); x + y;",
        "torch::Device d = flag ? torch::kCUDA : torch::kCPU; if (d.is_cpu()) { x.to(d) + "
        "torch::ones({2}); }",
        "torch::Device d = flag ? torch::kCUDA : torch::kCPU; if (d == torch::kCPU) { x.to(d) + "
        "torch::ones({2}); }"));

INSTANTIATE_TEST_SUITE_P(
    MeantToFail, Legal,
    ::testing::Values(
        "\n#define EXPECT_THROW(statement, type) try { statement; } catch (type&) {}\n"
        "EXPECT_THROW(x.cuda() + torch::ones({2}), c10::Error);\n"));

TEST(DeviceFlow, CalleeThatMovesItsArgumentIsSilent) {
  const std::string body_moves =
      "struct NetImpl : torch::nn::Module { torch::Tensor forward(torch::Tensor x) { x = "
      "x.to(torch::kCUDA); return x; } }; TORCH_MODULE(Net); ";
  const std::string use =
      "void f(Net net) { net->to(torch::kCUDA); net->forward("
      "torch::ones({2})); }";
  EXPECT_THAT(check_flow(body_moves + use).findings, IsEmpty());
  // as is one whose body is not seen
  EXPECT_THAT(check_flow("struct NetImpl : torch::nn::Module { torch::Tensor forward(torch::Tensor "
                         "x); }; TORCH_MODULE(Net); " +
                         use)
                  .findings,
              IsEmpty());
  // and one that takes it as it is, is not
  EXPECT_THAT(check_flow("struct NetImpl : torch::nn::Module { torch::Tensor forward(torch::Tensor "
                         "x) { return torch::relu(x); } }; TORCH_MODULE(Net); " +
                         use)
                  .findings,
              SizeIs(1));
}

class LegalInModule : public ::testing::TestWithParam<const char*> {};

TEST_P(LegalInModule, IsSilent) {
  EXPECT_THAT(check_flow("struct Net : torch::nn::Module { torch::nn::Linear fc{nullptr}; "
                         "torch::Tensor weight; torch::Tensor forward(torch::Tensor x) { " +
                         std::string(GetParam()) + " } };")
                  .findings,
              IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    FactoryWithoutDevice, LegalInModule,
    ::testing::Values(
        // moved at once, or before it is used
        "return x + torch::ones({2}).to(x.device());",
        "auto h = torch::ones({2}); h = h.to(x); return x + h;",
        // for its shape, for a host's eyes, as an index
        "auto h = torch::ones({2}); return x.view(h.sizes());",
        "auto h = torch::ones({2}); if (h.sum().item<float>() > 1) return x; return x;",
        "return x.index({torch::arange(2)});", "return x[torch::arange(2)];",
        // on the input's device
        "return x + torch::ones({2}, x.options());", "return x + torch::zeros_like(x);",
        "return x + x.new_zeros({2});", "return x + torch::tensor(1.0);",
        // where it is known that all is on the CPU
        "if (x.is_cuda()) return x; return x + torch::ones({2});",
        "torch::Tensor h; if (x.is_cuda()) h = torch::ones_like(x); else h = torch::ones({2}); "
        "return x + h;"));

TEST(FactoryWithoutDevice, OnlyInModules) {
  const std::string method = "torch::Tensor f(torch::Tensor x) { return x + torch::ones({2}); }";
  EXPECT_THAT(check_flow(method).findings, IsEmpty());
  EXPECT_THAT(check_flow("struct Plain { " + method + " };").findings, IsEmpty());
  const std::string module = "struct Net : torch::nn::Module { " + method + " };";
  EXPECT_THAT(check_flow(module).findings, SizeIs(1));
  EXPECT_THAT(check_flow(module, "/project/tests/net.cpp").findings, IsEmpty());
}

TEST(FactoryWithoutDevice, NotWhileTheModuleIsMade) {
  EXPECT_THAT(check_flow("struct Net : torch::nn::Module { torch::Tensor weight; Net() { fill("
                         "weight); } void fill(torch::Tensor w) { weight = w + torch::ones({2}); } "
                         "};")
                  .findings,
              IsEmpty());
}

// What only works on tensors that the module makes itself is on the CPU throughout.
TEST(FactoryWithoutDevice, NotInHelpersThatNoInputComesTo) {
  const std::string helper =
      " torch::Tensor table(torch::Tensor p) { return p.unsqueeze(1) * torch::arange(4); } };";
  EXPECT_THAT(
      check_flow("struct Net : torch::nn::Module { torch::Tensor t; void init() { t = table("
                 "torch::arange(2)); }" +
                 helper)
          .findings,
      IsEmpty());
  EXPECT_THAT(
      check_flow("struct Net : torch::nn::Module { torch::Tensor forward(torch::Tensor x) { "
                 "return table(x); }" +
                 helper)
          .findings,
      SizeIs(1));
}

// A function over the limit is given up, and counted, in less time than it takes to read it.
TEST(DeviceFlow, FunctionOverTheLimitIsSilent) {
  std::string body = "auto y = x.cuda();";
  for (int i = 0; i < 3000; ++i) body += " if (flag) y = y + 1;";
  EXPECT_THAT(
      check_flow("void f(torch::Tensor x, bool flag) { " + body + " y.matmul(torch::ones({2})); }")
          .findings,
      IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
