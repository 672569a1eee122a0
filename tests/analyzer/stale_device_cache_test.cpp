// Rule stale-device-cache: what it reports, what it must not, and its fix-its.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_caches(const std::string& code) {
  return check(code, RuleSet::parse("-*,devsan-stale-device-cache"));
}

// A class with caches; the body is of a method that is given `x`.
std::string layer_of(const std::string& body, const std::string& more = "") {
  return "struct Layer : torch::nn::Module {\n"
         "torch::Tensor forward(const torch::Tensor& x, long n, bool flag) {\n" +
         body + "\n}\n" + more +
         "\ntorch::Tensor cache_, other_; std::optional<torch::Tensor> maybe_;\n"
         "torch::Device device_ = torch::kCPU; bool ready_ = false; long length_ = 0; };";
}

std::string function_of(const std::string& body) {
  return "torch::Tensor f(const torch::Tensor& x, long n, torch::Device device) {\n" + body + "\n}";
}

class Stale : public ::testing::TestWithParam<std::string> {};

TEST_P(Stale, IsReported) {
  const Checked checked = check_caches(GetParam());
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "stale-device-cache");
}

INSTANTIATE_TEST_SUITE_P(
    Members, Stale,
    ::testing::Values(
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                 "return x * cache_;"),
        layer_of("if (cache_.size(0) < n) { cache_ = torch::ones({n}, x.device()); } "
                 "return x * cache_;"),
        layer_of(
            "if (!cache_.defined() || length_ < n) { const auto options = x.options(); "
            "cache_ = torch::arange(n, options).unsqueeze(0); length_ = n; } return x * cache_;"),
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}).to(x.device()); "
                 "return x * cache_.view({n}).to(torch::kFloat);"),
        layer_of("if (!cache_.defined()) cache_ = torch::zeros_like(x); return x + cache_;"),
        layer_of("if (!maybe_) maybe_ = torch::ones({n}, x.options()); return x * *maybe_;"),
        layer_of("if (!maybe_.has_value()) maybe_ = torch::ones({n}, x.options()); "
                 "return x * maybe_.value();"),
        layer_of("if (!this->cache_.defined()) { this->cache_ = torch::ones({n}, x.options()); "
                 "this->cache_.zero_(); } return x * this->cache_;")));

INSTANTIATE_TEST_SUITE_P(
    Statics, Stale,
    ::testing::Values(
        function_of("static auto kernel = torch::ones({3}, x.options()); return x * kernel;"),
        function_of("thread_local torch::Tensor kernel = torch::ones({3}, device); "
                    "return x * kernel;"),
        function_of("static torch::Tensor kernel; if (!kernel.defined()) "
                    "kernel = torch::ones({3}, torch::TensorOptions().device(x.device())); "
                    "return x * kernel;"),
        function_of("static torch::Tensor kernel; if (!kernel.defined() || kernel.size(0) < n) "
                    "kernel = torch::ones({n}, device); return x * kernel;"),
        "torch::Tensor kernel;\n" +
            function_of("if (!kernel.defined()) kernel = torch::ones({3}, x.options()); "
                        "return x * kernel;")));

TEST(StaleDeviceCache, NamesTheLinesAndAddsTheDeviceToTheCheck) {
  const Checked checked =
      check_caches(layer_of("if (!cache_.defined() || cache_.size(0) < n) {\n"
                            "cache_ = torch::ones({n}, x.options());\n}\nreturn x * cache_;"));
  EXPECT_THAT(lines(checked), ElementsAre(4));
  ASSERT_THAT(checked.findings[0].path, SizeIs(2));
  EXPECT_EQ(checked.findings[0].path[0].place.line, 2);
  EXPECT_EQ(checked.findings[0].path[1].place.line, 3);
  EXPECT_THAT(checked.fixed(),
              HasSubstr("if (!cache_.defined() || cache_.size(0) < n || cache_.device() != "
                        "x.device()) {"));
  EXPECT_THAT(check_caches(checked.fixed()).findings, IsEmpty());
}

TEST(StaleDeviceCache, AnOptionalIsAskedThroughIt) {
  const Checked checked = check_caches(
      layer_of("if (!maybe_) maybe_ = torch::ones({n}, x.options()); return x * *maybe_;"));
  EXPECT_THAT(checked.fixed(), HasSubstr("if (!maybe_ || maybe_->device() != x.device())"));
}

// One check is edited once, though it makes two tensors.
TEST(StaleDeviceCache, OneFindingForACheck) {
  const Checked checked = check_caches(
      layer_of("if (!cache_.defined() || !other_.defined()) { cache_ = torch::ones({n}, "
               "x.options()); other_ = torch::ones({n}, x.options()); } return cache_ * other_;"));
  EXPECT_THAT(checked.findings, SizeIs(1));
}

// `a && b || c` would ask something else.
TEST(StaleDeviceCache, ACheckOfSeveralConditionsIsNotEdited) {
  const Checked checked = check_caches(
      layer_of("if (n > 1 && !cache_.defined()) cache_ = torch::ones({n}, x.options()); "
               "return x * cache_;"));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].fixes, IsEmpty());
}

class NotStale : public ::testing::TestWithParam<std::string> {};

TEST_P(NotStale, IsSilent) {
  EXPECT_THAT(check_caches(GetParam()).findings, IsEmpty());
}

const std::string kMake = "cache_ = torch::ones({n}, x.options()); return x * cache_;";

INSTANTIATE_TEST_SUITE_P(
    KeyedByDevice, NotStale,
    ::testing::Values(
        layer_of("if (!cache_.defined() || cache_.device() != x.device()) " + kMake +
                 " return x * cache_;"),
        layer_of("if (!cache_.defined() || device_ != x.device()) " + kMake + " return x;"),
        layer_of("if (x.is_cuda()) { if (!cache_.defined()) " + kMake + " } return x;"),
        layer_of("const bool moved = cache_.defined() && cache_.device() != x.device(); "
                 "if (!cache_.defined() || moved) " +
                 kMake + " return x * cache_;"),
        function_of("static std::map<long, torch::Tensor> kernels; "
                    "auto& kernel = kernels[n]; "
                    "if (!kernel.defined()) kernel = torch::ones({3}, device); "
                    "return x * kernel;")));

INSTANTIATE_TEST_SUITE_P(
    FlagsAndHelpers, NotStale,
    ::testing::Values(layer_of("if (!cache_.defined() || flag) " + kMake + " return x * cache_;"),
                      layer_of("if (!ready_) " + kMake + " return x * cache_;"),
                      layer_of("if (!fits(cache_, x)) " + kMake + " return x * cache_;",
                               "static bool fits(torch::Tensor a, "
                               "torch::Tensor b);")));

INSTANTIATE_TEST_SUITE_P(
    FixedDeviceOrValuesAlone, NotStale,
    ::testing::Values(
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}); return x * cache_;"),
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, "
                 "x.options().device(torch::kCPU)); return x * cache_;"),
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()).cpu(); "
                 "return x * cache_;"),
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, device_); return x * cache_;"),
        layer_of("if (!cache_.defined()) cache_ = x.detach(); return x * cache_;"),
        function_of("static auto kernel = torch::ones({3}); return x * kernel;"),
        "torch::Tensor f(torch::Tensor x, torch::Device d) { x = x.to(d); static auto kernel = "
        "torch::ones({3}, x.options()); return x * kernel; }"));

INSTANTIATE_TEST_SUITE_P(
    MovedWhereItIsUsed, NotStale,
    ::testing::Values(layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                               "return x * cache_.to(x.device());"),
                      layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                               "return x * cache_.view({n}).to(x);"),
                      layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                               "auto part = cache_.view({n}); return x * part.to(x.device());"),
                      layer_of("if (!maybe_) maybe_ = torch::ones({n}, x.options()); "
                               "return x * maybe_->to(x.device());"),
                      function_of("static auto kernel = torch::ones({3}, x.options()); "
                                  "return x * kernel.to(x.device());")));

INSTANTIATE_TEST_SUITE_P(
    Registered, NotStale,
    ::testing::Values(
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                 "return x * cache_;",
                 "Layer() { cache_ = register_buffer(\"c\", torch::ones({1})); }"),
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                 "return x * cache_;",
                 "Layer() : cache_(register_buffer(\"c\", torch::ones({1}))) {}"),
        layer_of("if (!cache_.defined()) cache_ = register_buffer(\"c\", torch::ones({n}, "
                 "x.options())); return x * cache_;")));

INSTANTIATE_TEST_SUITE_P(
    ChangedElsewhere, NotStale,
    ::testing::Values(
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                 "cache_ = cache_ + x; return cache_;"),
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                 "cache_.zero_(); return x * cache_;"),
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                 "return x * cache_;",
                 "void forget() { cache_ = torch::Tensor(); }"),
        layer_of("if (!maybe_) maybe_ = torch::ones({n}, x.options()); return x * *maybe_;",
                 "void forget() { maybe_.reset(); }"),
        layer_of("if (!cache_.defined()) cache_ = torch::ones({n}, x.options()); "
                 "return apply(x, cache_);",
                 "static torch::Tensor apply(torch::Tensor a, torch::Tensor b);")));

INSTANTIATE_TEST_SUITE_P(
    InEachCallOrSetUp, NotStale,
    ::testing::Values(
        layer_of(kMake),
        layer_of("return x;",
                 "explicit Layer(torch::Tensor y) { if (!cache_.defined()) cache_ = "
                 "torch::ones({1}, y.options()); }"),
        layer_of("return x;",
                 "void set_up(torch::Device d) { if (!cache_.defined()) cache_ = "
                 "torch::ones({1}, d); }"),
        function_of("auto kernel = torch::ones({3}, x.options()); return x * kernel;")));

INSTANTIATE_TEST_SUITE_P(
    FunctionsThatKnowTheirDevice, NotStale,
    ::testing::Values(
        function_of("TORCH_CHECK(x.is_cuda()); static auto kernel = torch::ones({3}, x.options()); "
                    "return x * kernel;"),
        function_of("TORCH_CHECK(x.device() == device); static auto kernel = torch::ones({3}, "
                    "device); return x * kernel;")));

}  // namespace
}  // namespace devsan::lint::test
