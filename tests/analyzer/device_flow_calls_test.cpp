// The flow rules through calls: what a function does to what it is given, as its callers see it.
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

struct Call {
  const char* name;
  const char* functions;
  const char* mistake;
  const char* right;
};

void PrintTo(const Call& call, std::ostream* out) {
  *out << call.name;
}

class Calls : public ::testing::TestWithParam<Call> {};

std::string with_body(const Call& call, const char* body) {
  return std::string(call.functions) + "\nvoid f(torch::Tensor x, torch::Tensor z, bool flag) { " +
         body + " }";
}

TEST_P(Calls, MistakeIsFound) {
  EXPECT_THAT(check_flow(with_body(GetParam(), GetParam().mistake)).findings, SizeIs(1));
}

TEST_P(Calls, RightCodeIsSilent) {
  EXPECT_THAT(check_flow(with_body(GetParam(), GetParam().right)).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Results, Calls,
    ::testing::Values(
        Call{"made inside", "torch::Tensor make() { return torch::ones({2}); }",
             "x.cuda().matmul(make());", "x.cuda().matmul(make().cuda());"},
        Call{"moved inside", "torch::Tensor host(torch::Tensor t) { return t.cpu(); }",
             "x.cuda().matmul(host(z.cuda()));", "x.matmul(host(z.cuda()));"},
        Call{"passed through", "torch::Tensor same(const torch::Tensor& t) { return t; }",
             "x.cuda().matmul(same(torch::ones({2})));", "x.cuda().matmul(same(z.cuda()));"},
        Call{"on the device that is given",
             "torch::Tensor make(torch::Device d) { return torch::ones({2}, d); }",
             "x.cuda().matmul(make(torch::kCPU));", "x.cuda().matmul(make(torch::kCUDA));"},
        Call{"a device",
             "torch::Device pick() { return torch::cuda::is_available() ? torch::kCUDA : "
             "torch::kCPU; }",
             "auto d = pick(); x.to(d).matmul(torch::ones({2}));",
             "auto d = pick(); x.to(d).matmul(torch::ones({2}, d));"},
        Call{"either",
             "torch::Tensor either(bool b, torch::Tensor t) { if (b) return t.cpu(); return "
             "t.to(torch::kCPU); }",
             "x.cuda().matmul(either(flag, z));", "x.cuda().matmul(either(flag, z).cuda());"},
        Call{
            "an object",
            "struct B { torch::Tensor ids, pixels; }; B process(const B& b) { B moved; moved.ids = "
            "b.ids.cuda(); moved.pixels = b.pixels; return moved; }",
            "B b = process(B{torch::ones({2}), torch::ones({2})}); b.ids.matmul(b.pixels);",
            "B b = process(B{torch::ones({2}), x}); b.ids.matmul(b.pixels);"},
        Call{"through two calls",
             "torch::Tensor inner() { return torch::ones({2}); } torch::Tensor outer() { return "
             "inner(); }",
             "x.cuda().matmul(outer());", "x.cuda().matmul(outer().to(x.cuda()));"}));

INSTANTIATE_TEST_SUITE_P(
    MeetInside, Calls,
    ::testing::Values(
        Call{"two parameters",
             "torch::Tensor mix(torch::Tensor a, torch::Tensor b) { return a.matmul(b); }",
             "mix(x.cuda(), torch::ones({2}));",
             "mix(x.cuda(), z.cuda()); mix(x, torch::ones({2}));"},
        Call{"two devices",
             "torch::Tensor mix(torch::Tensor a, torch::Tensor b) { return a.matmul(b); }",
             "mix(x.to(torch::Device(\"cuda:0\")), z.to(torch::Device(\"cuda:1\")));",
             "mix(x.to(torch::Device(\"cuda:1\")), z.to(torch::Device(\"cuda:1\")));"},
        Call{"moved before they meet",
             "torch::Tensor mix(torch::Tensor a, torch::Tensor b) { b = b.to(a.device()); return "
             "a.matmul(b); } torch::Tensor raw(torch::Tensor a, torch::Tensor b) { return "
             "a.matmul(b); }",
             "raw(x.cuda(), torch::ones({2}));", "mix(x.cuda(), torch::ones({2}));"},
        Call{"with what it makes",
             "torch::Tensor shift(torch::Tensor a) { return a.matmul(torch::ones({2})); }",
             "shift(x.cuda());", "shift(x.cpu()); shift(x);"},
        // the op is not reached on every path
        Call{"under a flag",
             "torch::Tensor mix(torch::Tensor a, torch::Tensor b, bool m) { if (m) return "
             "a.matmul(b); return a; } torch::Tensor always(torch::Tensor a, torch::Tensor b, bool "
             "m) "
             "{ if (m) a = a * 2; return a.matmul(b); }",
             "always(x.cuda(), torch::ones({2}), flag);", "mix(x.cuda(), torch::ones({2}), flag);"},
        Call{"when one is on CUDA",
             "torch::Tensor mix(torch::Tensor a, torch::Tensor b) { if (a.is_cuda()) return "
             "a.matmul(b); return b; }",
             "mix(x.cuda(), torch::ones({2}));", "mix(x, torch::ones({2}));"},
        Call{"checked",
             "void mix(torch::Tensor a, torch::Tensor b) { TORCH_CHECK(a.is_cuda(), \"\"); "
             "a.matmul(b); }",
             "mix(x.cuda(), torch::ones({2}));", "mix(x, torch::ones({2}));"},
        Call{"a CPU scalar stands beside",
             "torch::Tensor add_up(torch::Tensor a, torch::Tensor b) { return a + b; }",
             "add_up(x.cuda(), torch::ones({2}));",
             "add_up(x.cuda(), torch::tensor(1.0)); add_up(x.cuda(), torch::ones({2}).sum());"},
        Call{"members of what is given",
             "struct B { torch::Tensor ids, pixels; }; void use(const B& b) { "
             "b.ids.matmul(b.pixels); }",
             "B b{x.cuda(), torch::ones({2})}; use(b);", "B b{x.cuda(), z}; use(b);"},
        Call{"recursion",
             "torch::Tensor down(torch::Tensor a, torch::Tensor b, int n) { auto c = a.matmul(b); "
             "if "
             "(n == 0) return c; return down(a, c, n - 1); }",
             "down(x.cuda(), torch::ones({2}), 3);", "down(x.cuda(), z.cuda(), 3);"}));

INSTANTIATE_TEST_SUITE_P(
    Effects, Calls,
    ::testing::Values(
        Call{"moved in place", "void stage(torch::Tensor& t) { t = t.cpu(); }",
             "auto y = z.cuda(); stage(y); x.cuda().matmul(y);",
             "auto y = z.cuda(); stage(y); x.matmul(y);"},
        Call{"a member",
             "struct B { torch::Tensor ids, pixels; }; void stage(B& b) { b.ids = "
             "b.ids.cuda(); }",
             "B b{torch::ones({2}), torch::ones({2})}; stage(b); b.ids.matmul(b.pixels);",
             "B b{torch::ones({2}), torch::ones({2}).cuda()}; stage(b); b.ids.matmul(b.pixels);"},
        Call{"through a pointer", "void stage(torch::Tensor* t) { *t = t->cpu(); }",
             "auto y = z.cuda(); stage(&y); x.cuda().matmul(y);",
             "auto y = torch::ones({2}); stage(&y); x.matmul(y);"},
        Call{
            "a method",
            "struct B { torch::Tensor ids, pixels; void to(torch::Device d) { ids = ids.to(d); } "
            "};",
            "B b{torch::ones({2}), torch::ones({2})}; b.to(torch::kCUDA); b.ids.matmul(b.pixels);",
            "B b{torch::ones({2}), torch::ones({2})}; b.to(torch::kCUDA); b.ids.matmul(x.cuda());"},
        Call{"a constructor",
             "struct S { torch::Tensor mean; explicit S(torch::Device d) : mean(torch::ones({2}, "
             "d)) "
             "{} };",
             "S s(torch::kCPU); x.cuda().matmul(s.mean);",
             "S s(torch::kCUDA); x.cuda().matmul(s.mean);"},
        Call{"a constructor that moves the object",
             "struct Net : torch::nn::Module { torch::nn::Linear fc; explicit Net(torch::Device d) "
             ": "
             "fc(register_module(\"fc\", torch::nn::Linear(2, 2))) { to(d); } torch::Tensor "
             "run(torch::Tensor t) { return fc->forward(t); } };",
             "Net net(torch::kCPU); net.run(x.cuda());",
             "Net net(torch::kCUDA); net.run(x.cuda());"},
        Call{"a method that meets a member",
             "struct S { torch::Tensor mean; explicit S(torch::Device d) : mean(torch::ones({2}, "
             "d)) "
             "{} torch::Tensor norm(torch::Tensor t) const { return t.matmul(mean); } };",
             "S s(torch::kCPU); s.norm(x.cuda());", "S s(torch::kCUDA); s.norm(x.cuda());"}));

// What is decided at run time, or not seen, is not concluded from.
TEST(Calls, UnknownCalleesAreSilent) {
  EXPECT_THAT(check_flow(R"(
torch::Tensor unseen(torch::Tensor a, torch::Tensor b);
void change(torch::Tensor& t);
struct Base {
  virtual torch::Tensor mix(torch::Tensor a, torch::Tensor b) { return a.matmul(b); }
};
void f(torch::Tensor x, Base& base) {
  unseen(x.cuda(), torch::ones({2}));
  base.mix(x.cuda(), torch::ones({2}));
  auto y = torch::ones({2});
  change(y);
  x.cuda().matmul(y);
}
)")
                  .findings,
              IsEmpty());
}

TEST(Calls, AreReportedAtTheCallWithTheWayToTheOp) {
  const Checked checked = check_flow(R"(
torch::Tensor mix_inside(torch::Tensor a, torch::Tensor b) {
  return a.matmul(b);
}
torch::Tensor mix_around(torch::Tensor a, torch::Tensor b) {
  return mix_inside(a, b);
}
void f(torch::Tensor x) {
  auto y = torch::ones({2});
  mix_around(x.cuda(), y);
}
)");
  ASSERT_THAT(checked.findings, SizeIs(1));
  const Finding& finding = checked.findings[0];
  EXPECT_EQ(finding.place.line, 10);
  EXPECT_EQ(finding.message,
            "'y' is on the CPU where it meets 'x.cuda()', which is on cuda, in 'matmul'");
  std::vector<int> way;
  for (const PathStep& step : finding.path) way.push_back(step.place.line);
  EXPECT_THAT(way, ElementsAre(6, 3, 9));
  EXPECT_THAT(finding.path[0].label, HasSubstr("through this call"));
  EXPECT_THAT(finding.path[1].label, HasSubstr("they meet in 'matmul' here"));
  EXPECT_THAT(finding.path[2].label, HasSubstr("made on the CPU"));
}

TEST(Calls, PathGoesIntoTheFunctionThatMadeIt) {
  const Checked checked = check_flow(R"(
torch::Tensor table() {
  return torch::ones({2});
}
void f(torch::Tensor x) {
  auto y = table();
  x.cuda().matmul(y);
}
)");
  ASSERT_THAT(checked.findings, SizeIs(1));
  std::vector<int> way;
  for (const PathStep& step : checked.findings[0].path) way.push_back(step.place.line);
  EXPECT_THAT(way, ElementsAre(6, 3));
}

// A table that a helper makes without being told a device, in a model's forward.
TEST(Calls, FactoryInAHelperOfAModule) {
  const std::string helper = "torch::Tensor table() { return torch::ones({2}); }\n";
  const auto net = [&](const std::string& body) {
    return helper + "struct Net : torch::nn::Module { torch::Tensor forward(torch::Tensor x) { " +
           body + " } };";
  };
  EXPECT_THAT(check_flow(net("return x.matmul(table());")).findings, SizeIs(1));
  EXPECT_THAT(check_flow(net("return x.matmul(table().to(x.device()));")).findings, IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
