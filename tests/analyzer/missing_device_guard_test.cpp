// Rule missing-device-guard: what it reports, what it must not, and its fix-its.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"
#include "checks/guard_callers.h"

namespace devsan::lint::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const RuleSet kRule = RuleSet::parse("-*,devsan-missing-device-guard");
constexpr const char* kPath = "/project/src/code.cu";

Checked check_guards(const std::string& code) {
  return check(
      "template <class T> __global__ void scale(T* x) {}\n"
      "void library(cublasHandle_t); void start(float*);\n" +
          code,
      kRule, kPath);
}

class Unguarded : public ::testing::TestWithParam<const char*> {};

TEST_P(Unguarded, IsReportedAndFixed) {
  const Checked checked = check_guards(GetParam());
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.fixed(),
              HasSubstr("const c10::cuda::OptionalCUDAGuard device_guard(device_of(x));"));
  EXPECT_THAT(check(checked.fixed(), kRule, kPath).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    MissingDeviceGuard, Unguarded,
    ::testing::Values(
        "void f(at::Tensor x) { scale<<<1, 32>>>(x.data_ptr<float>()); }",
        // the stream of the tensor's own device is not enough
        "void f(at::Tensor x) {\n  scale<<<1, 32, 0, "
        "at::cuda::getCurrentCUDAStream(x.get_device())>>>(x.data_ptr<float>());\n}",
        "void f(at::Tensor x) { AT_DISPATCH_FLOATING_TYPES(c10::kFloat, \"f\", [&] { "
        "scale<<<1, 32>>>(x.data_ptr<scalar_t>()); }); }",
        "void f(const at::Tensor& x) { cudaLaunchKernel((void*)start, 1, 1, nullptr, 0, nullptr); "
        "}",
        "void f(at::Tensor x) { auto stream = at::cuda::getCurrentCUDAStream(); }",
        "void f(at::Tensor x) { auto stream = c10::cuda::getStreamFromPool(true); }",
        "void f(at::Tensor x) { library(at::cuda::getCurrentCUDABlasHandle()); }",
        // a guard that is gone, and one that comes too late
        "void f(at::Tensor x) { { c10::cuda::OptionalCUDAGuard guard(device_of(x)); } "
        "scale<<<1, 32>>>(x.data_ptr<float>()); }",
        "void f(at::Tensor x) { scale<<<1, 32>>>(x.data_ptr<float>()); "
        "c10::cuda::OptionalCUDAGuard guard(device_of(x)); }",
        // through a function that has no tensor to ask
        "static void launch(float* x) { scale<<<1, 32>>>(x); }\n"
        "void f(at::Tensor x) { launch(x.data_ptr<float>()); }",
        "static void inner(float* x) { scale<<<1, 32>>>(x); }\n"
        "static void launch(float* x) { inner(x); }\n"
        "void f(at::Tensor x) { launch(x.data_ptr<float>()); }",
        // of two only the outer, whose guard helps both
        "static void g(at::Tensor y) { scale<<<1, 32>>>(y.data_ptr<float>()); }\n"
        "void f(at::Tensor x) { scale<<<1, 32>>>(x.data_ptr<float>()); g(x); }",
        // one of two callers
        "static void f(at::Tensor x) { scale<<<1, 32>>>(x.data_ptr<float>()); }\n"
        "void a(at::Tensor y) { c10::cuda::OptionalCUDAGuard guard(device_of(y)); f(y); }\n"
        "void b(at::Tensor y) { f(y); }"));

TEST(MissingDeviceGuard, IsSaidOnceOfAFunctionAtItsLaunch) {
  const Checked checked = check_guards(
      "void f(at::Tensor x) {\n  auto stream = at::cuda::getCurrentCUDAStream();\n"
      "  scale<<<1, 32, 0, stream>>>(x.data_ptr<float>());\n"
      "  scale<<<1, 32, 0, stream>>>(x.data_ptr<float>());\n}");
  EXPECT_THAT(lines(checked), ElementsAre(5));
  EXPECT_THAT(checked.findings[0].message, HasSubstr("'scale' is launched on the current device"));
}

TEST(MissingDeviceGuard, GuardGoesFirstWithTheIncludeThatItNeeds) {
  const Checked checked = check(
      "#if __has_include(<none.h>)\n#endif\n"
      "template <class T> __global__ void scale(T* x) {}\n"
      "void f(at::Tensor x) {\n  scale<<<1, 32>>>(x.data_ptr<float>());\n}\n",
      kRule, kPath);
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].fixes, IsEmpty()) << "what is under a condition may not be read";
}

class Guarded : public ::testing::TestWithParam<const char*> {};

TEST_P(Guarded, IsSilent) {
  EXPECT_THAT(check_guards(GetParam()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    MissingDeviceGuard, Guarded,
    ::testing::Values(
        "void f(at::Tensor x) { const c10::cuda::OptionalCUDAGuard guard(device_of(x)); "
        "scale<<<1, 32>>>(x.data_ptr<float>()); }",
        "void f(at::Tensor x) { c10::DeviceGuard guard(x.device()); if (x.defined()) { "
        "scale<<<1, 32>>>(x.data_ptr<float>()); } }",
        "void f(at::Tensor x) { std::optional<c10::cuda::CUDAGuard> guard; "
        "scale<<<1, 32>>>(x.data_ptr<float>()); }",
        "void f(at::Tensor x, c10::cuda::CUDAStream s) { c10::cuda::CUDAStreamGuard guard(s); "
        "scale<<<1, 32, 0, s>>>(x.data_ptr<float>()); }",
        // the device is set for good
        "void f(at::Tensor x) { cudaSetDevice(x.get_device()); "
        "scale<<<1, 32>>>(x.data_ptr<float>()); }",
        "void f(at::Tensor x) { if (x.is_cuda()) c10::cuda::set_device(x.get_device()); "
        "scale<<<1, 32>>>(x.data_ptr<float>()); }",
        // a project's own guard, and one in a macro
        "struct ScopedDeviceGuard { ScopedDeviceGuard(int); };\n"
        "void f(at::Tensor x) { ScopedDeviceGuard guard(x.get_device()); "
        "scale<<<1, 32>>>(x.data_ptr<float>()); }",
        "#define GUARD(t) const c10::cuda::OptionalCUDAGuard device_guard(device_of(t))\n"
        "void f(at::Tensor x) { GUARD(x); scale<<<1, 32>>>(x.data_ptr<float>()); }",
        // in the function around a lambda
        "void f(at::Tensor x) { c10::cuda::OptionalCUDAGuard guard(device_of(x)); "
        "AT_DISPATCH_FLOATING_TYPES(c10::kFloat, \"f\", [&] { "
        "scale<<<1, 32>>>(x.data_ptr<scalar_t>()); }); }",
        // in every caller
        "static void g(at::Tensor x) { scale<<<1, 32>>>(x.data_ptr<float>()); }\n"
        "void f(at::Tensor x) { c10::cuda::OptionalCUDAGuard guard(device_of(x)); g(x); }",
        "namespace { void g(at::Tensor x) { scale<<<1, 32>>>(x.data_ptr<float>()); } "
        "void h(at::Tensor x) { g(x); } }\n"
        "void f(at::Tensor x) { c10::cuda::OptionalCUDAGuard guard(device_of(x)); h(x); }",
        "static void launch(float* x) { scale<<<1, 32>>>(x); }\n"
        "void f(at::Tensor x) { c10::cuda::OptionalCUDAGuard guard(device_of(x)); "
        "launch(x.data_ptr<float>()); }",
        // a member guard
        "struct S { c10::cuda::OptionalCUDAGuard guard; void f(at::Tensor x) { "
        "scale<<<1, 32>>>(x.data_ptr<float>()); } };",
        // the engine's thread is one of the gradients' device
        "struct F : torch::autograd::Function<F> { static void backward(at::Tensor x) { "
        "scale<<<1, 32>>>(x.data_ptr<float>()); } };",
        // a program that never sets the device has one
        "static void f(at::Tensor x) { scale<<<1, 32>>>(x.data_ptr<float>()); }\n"
        "int main() { f(at::Tensor()); }",
        // takes no tensor
        "void f(float* x) { scale<<<1, 32>>>(x); }",
        // starts nothing
        "void f(at::Tensor x) { auto stream = at::cuda::getCurrentCUDAStream(x.get_device()); }",
        "__global__ void k(float* x) { } void f(at::Tensor x) { auto kernel = &k; }"));

TEST(MissingDeviceGuard, TestsAreSilent) {
  EXPECT_THAT(check("__global__ void k() {}\nvoid f(at::Tensor x) { k<<<1, 1>>>(); }", kRule,
                    "/project/tests/k.cu")
                  .findings,
              IsEmpty());
}

GuardFacts of_file(std::set<GuardFacts::Call> calls) {
  GuardFacts facts;
  facts.calls = std::move(calls);
  return facts;
}

TEST(GuardCallers, OfAllFilesAreAskedTogether) {
  GuardFacts kernels;  // launch(Tensor), declared in a header
  kernels.users = {"launch"};
  GuardCallers callers;
  callers.add(kernels);
  EXPECT_FALSE(callers.is_exposed("launch")) << "no caller was seen";
  callers.add(of_file({{"good", "launch", true}}));
  EXPECT_FALSE(callers.is_exposed("launch"));
  GuardFacts bad = of_file({{"bad", "launch", false}});
  callers.add(bad);
  EXPECT_FALSE(callers.is_exposed("launch")) << "nor one of the caller without a guard";
  GuardFacts binding;
  binding.handed_on = {"bad"};
  callers.add(binding);
  EXPECT_TRUE(callers.is_exposed("launch"));
}

TEST(GuardCallers, WhatACallerMendsNeedsNoGuardOfItsOwn) {
  GuardFacts facts = of_file({{"outer", "inner", false}});
  facts.handed_on = {"outer"};
  GuardCallers callers;
  callers.add(facts);
  EXPECT_TRUE(callers.is_exposed("inner"));
  EXPECT_FALSE(callers.is_exposed("inner", {"outer", "inner"}));
  EXPECT_TRUE(callers.is_exposed("outer", {"outer", "inner"}));
  facts.handed_on = {"inner"};
  callers.add(facts);
  EXPECT_TRUE(callers.is_exposed("inner", {"outer", "inner"})) << "it is also called from outside";
}

TEST(GuardCallers, RecursionIsNoWayIn) {
  GuardCallers callers;
  callers.add(of_file({{"a", "b", false}, {"b", "a", false}}));
  EXPECT_FALSE(callers.is_exposed("a"));
  EXPECT_FALSE(callers.launches("a"));
}

TEST(GuardCallers, WhatIsGivenATensorAnswersForItself) {
  GuardFacts facts = of_file({{"outer", "inner", false}});
  facts.users = {"inner"};
  GuardCallers callers;
  callers.add(facts);
  EXPECT_FALSE(callers.launches("outer"));
  facts.tensorless = {"outer", "inner"};
  callers.add(facts);
  EXPECT_TRUE(callers.launches("outer"));
}

}  // namespace
}  // namespace devsan::lint::test
