// Rule hard-coded-device: what must stay silent, and what is said only when asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"
#include "placement/code_kind.h"

namespace devsan::lint::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PlacesNothing : public ::testing::TestWithParam<const char*> {};

TEST_P(PlacesNothing, IsNotReported) {
  EXPECT_THAT(check(GetParam()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Comparisons, PlacesNothing,
    ::testing::Values(
        "bool f(torch::Tensor x) { return x.device() == torch::kCUDA; }",
        "bool f(torch::Tensor x) { return x.device() != torch::Device(torch::kCUDA, 0); }",
        "bool f(torch::Tensor x) { return x.device() == torch::Device(\"cuda:0\"); }",
        "bool f(torch::Tensor x) { return x.device().type() == torch::kCUDA; }",
        "void f(torch::Tensor x) { TORCH_CHECK(x.is_cuda(), \"cuda\"); }",
        "void f(torch::Tensor x) { TORCH_CHECK(x.device() == torch::kCUDA); }",
        "int f(torch::Tensor x) { switch (x.device().type()) { case torch::kCUDA: return 1; "
        "default: return 0; } }",
        "bool is_on(torch::Tensor, torch::Device); bool f(torch::Tensor x) { return is_on(x, "
        "torch::kCUDA); }",
        "void f() { std::cout << torch::Device(torch::kCUDA); }",
        "int f() { return torch::Device(\"cuda:1\").index(); }"));

INSTANTIATE_TEST_SUITE_P(
    TemplateTags, PlacesNothing,
    ::testing::Values("template <torch::DeviceType D> void g(); void f() { g<torch::kCUDA>(); }",
                      "template <torch::DeviceType D> struct G {}; template <> struct "
                      "G<torch::kCUDA> {}; G<torch::kCUDA> g;",
                      "void f(torch::Tensor x, torch::ScalarType s) { "
                      "AT_DISPATCH_FLOATING_TYPES(s, \"cuda:0\", [&] {}); }",
                      "void name(const std::string&); void f() { name(\"cuda:0\"); }",
                      "void f(torch::DeviceType t); void g() { f(torch::kCUDA); }"));

INSTANTIATE_TEST_SUITE_P(
    Cpu, PlacesNothing,
    ::testing::Values("void f(torch::Tensor x) { x = x.to(torch::kCPU); }",
                      "void f() { torch::zeros({2}, torch::kCPU); }",
                      "void f() { torch::Device d(\"cpu\"); }",
                      "torch::Tensor f(torch::Tensor x) { return x.cpu(); }",
                      "void f() { torch::Device d(torch::DeviceType::Meta); }"));

INSTANTIATE_TEST_SUITE_P(
    SetUp, PlacesNothing,
    ::testing::Values(
        // command-line defaults
        "struct Options { std::string device = \"cuda:0\"; };",
        "struct Settings { torch::Device device = torch::kCUDA; int epochs = 1; };",
        "struct TrainOptions { torch::Device device_; TrainOptions() : device_(torch::kCUDA) {} };",
        "void parse(int argc, char** argv) { torch::Device d(\"cuda:0\"); }",
        "struct Options { bool gpu; }; torch::Device pick(const Options& o) { return o.gpu ? "
        "torch::Device(\"cuda:0\") : torch::Device(\"cpu\"); }",
        // asking the machine, or a flag
        "int main() { torch::Device d(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU); }",
        "int main() { torch::Device d = torch::kCPU; if (torch::cuda::is_available()) d = "
        "torch::kCUDA; }",
        "int main() { torch::DeviceType t; if (torch::cuda::is_available()) t = torch::kCUDA; else "
        "t = torch::kCPU; torch::Device d(t); }",
        "torch::Device pick() { return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU; }",
        "torch::Device pick(bool gpu) { return gpu ? torch::kCUDA : torch::kCPU; }",
        "torch::Device pick() { if (torch::cuda::device_count() > 0) return "
        "torch::Device(torch::kCUDA); return torch::kCPU; }",
        // a program's own set-up
        "int main() { torch::Device d(\"cuda:0\"); }",
        "torch::Device device() { return torch::Device(\"cuda:0\"); } int main() { device(); }"));

INSTANTIATE_TEST_SUITE_P(
    ComputedIndex, PlacesNothing,
    ::testing::Values(
        "void f(int rank) { torch::Device d(torch::kCUDA, rank); }",
        "void f(torch::Tensor x) { auto o = torch::dtype(torch::kLong).device(torch::kCUDA, "
        "x.get_device()); }",
        "void f(int i) { torch::zeros({2}, torch::device({torch::kCUDA, static_cast<signed "
        "char>(i)})); }",
        "void f(int i) { torch::Device d(\"cuda:\" + std::to_string(i)); }",
        "void f(int i) { auto o = torch::TensorOptions().device(torch::kCUDA).device_index(i); }"));

INSTANTIATE_TEST_SUITE_P(
    CurrentDeviceIsSet, PlacesNothing,
    ::testing::Values(
        "void f(torch::Tensor x) { c10::cuda::CUDAGuard g(x.device()); torch::zeros({2}, "
        "torch::kCUDA); }",
        "void f(torch::Tensor x) { c10::DeviceGuard g(x.device()); [&] { torch::zeros({2}, "
        "torch::kCUDA); }; }",
        "void f(int i) { c10::cuda::set_device(i); torch::zeros({2}, torch::kCUDA); }"));

INSTANTIATE_TEST_SUITE_P(
    Others, PlacesNothing,
    ::testing::Values(
        "void f() { torch::globalContext().defaultGenerator(torch::kCUDA); }",
        "void f(torch::Tensor x, torch::Device d) { x = x.to(d); }",
        "void f(std::string name) { torch::Device d(name); }",
        "void f() { auto type = torch::kCUDA; type = torch::kCPU; torch::Device d(type); }",
        // a default that every constructor overrules
        "struct M : torch::nn::Module { torch::Device d = torch::kCUDA; explicit M(torch::Device "
        "x) : d(x) {} };"));

// Code for one GPU: nothing at hand has a device that it could follow, none has an index.
class OneGpu : public ::testing::TestWithParam<const char*> {};

TEST_P(OneGpu, IsSilentUnlessAskedFor) {
  EXPECT_THAT(check(GetParam()).findings, IsEmpty());
  const Checked asked = check(GetParam(), RuleSet::parse("devsan-hard-coded-device-setup"));
  ASSERT_THAT(asked.findings, SizeIs(1));
  EXPECT_EQ(asked.findings[0].level, Level::kNote);
}

INSTANTIATE_TEST_SUITE_P(
    HardCodedDevice, OneGpu,
    ::testing::Values("torch::Tensor to_gpu(torch::Tensor image) { return image.cuda(); }",
                      "torch::Tensor load() { return torch::zeros({2}, torch::kCUDA); }",
                      "struct Camera { torch::Tensor pose; torch::Tensor on_gpu() { return "
                      "pose.to(torch::kCUDA); } };",
                      "void f(torch::nn::Linear m) { m->to(torch::kCUDA); }"));

TEST(HardCodedDevice, TestsAreSilentByPathAndByMacro) {
  const std::string code = "torch::Tensor f(torch::Tensor x, torch::Device d) { return x.cuda(); }";
  EXPECT_THAT(check(code).findings, SizeIs(1));
  EXPECT_THAT(check(code, {}, "/project/tests/model.cpp").findings, IsEmpty());
  EXPECT_THAT(check(code, {}, "/project/src/model_test.cpp").findings, IsEmpty());
  EXPECT_THAT(check("#define TEST(suite, name) void suite##name()\n"
                    "TEST(Model, Runs) { torch::Device d(torch::kCUDA); }")
                  .findings,
              IsEmpty());
}

TEST(HardCodedDevice, SetUpAndTestsAreNotesWhenAskedFor) {
  const RuleSet rules = RuleSet::parse("devsan-hard-coded-device-setup");
  const Checked in_main = check("int main() {\n torch::Device d(\"cuda:0\");\n}", rules);
  ASSERT_THAT(lines(in_main), ElementsAre(2));
  EXPECT_EQ(in_main.findings[0].level, Level::kNote);
  const Checked in_test = check("torch::Tensor f(torch::Tensor x) { return x.cuda(); }", rules,
                                "/project/tests/model.cpp");
  ASSERT_THAT(in_test.findings, SizeIs(1));
  EXPECT_EQ(in_test.findings[0].level, Level::kNote);
}

TEST(HardCodedDevice, InAProgramsFileModelsAndWhatTakesTensorsAreNotSetUp) {
  EXPECT_THAT(lines(check(R"(
struct M : torch::nn::Module { torch::Tensor f(torch::Tensor x) { return x.cuda(); } };
torch::Tensor step(torch::Tensor x, torch::Tensor y) { return x.cuda() + y; }
int main() { torch::Device d(torch::kCUDA); }
)")),
              ElementsAre(2, 3));
}

TEST(CodeKind, TestPathsAreKnownByFolderAndName) {
  for (const char* path : {"test/a.cpp", "src/tests/a.cpp", "a_test.cc", "test_a.cpp",
                           "bench/a.cpp", "benchmarks/a.cpp", "src/ModelTest.cpp"}) {
    EXPECT_TRUE(is_test_path(path)) << path;
  }
  for (const char* path : {"src/a.cpp", "contest/a.cpp", "latest.cpp", "attestation/a.cpp"}) {
    EXPECT_FALSE(is_test_path(path)) << path;
  }
}

}  // namespace
}  // namespace devsan::lint::test
