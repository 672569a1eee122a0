// Rule dropped-move: each form it reports, each form it must not, and its fix-its.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// With this rule alone: `.cuda()` is another rule's business too.
Checked check_moves(const std::string& code) {
  return check(code, RuleSet::parse("-*,devsan-dropped-move"));
}

// The statement in a function that has a tensor t, a constant one c and a device.
Checked check_statement(const std::string& statement) {
  return check_moves(
      "void f(torch::Tensor t, const torch::Tensor c, torch::Device device, bool flag) { " +
      statement + " }");
}

std::string fixed_statement(const std::string& statement) {
  const std::string before =
      "void f(torch::Tensor t, const torch::Tensor c, torch::Device device, bool flag) { ";
  const std::string code = check_statement(statement).fixed();
  return code.substr(before.size(), code.size() - before.size() - 2);
}

// What `auto` is in a template is known of what the template becomes.
TEST(DroppedMove, InATemplateThatIsUsed) {
  const Checked checked = check_moves(R"(
struct Batch { torch::Tensor data; };
template <typename Loader>
void train(Loader& loader, torch::Device device) {
  for (auto& batch : loader) batch.data.to(device);
}
void run(std::vector<Batch>& a, std::vector<Batch>& b) {
  train(a, torch::kCUDA);
  train(b, torch::kCUDA);
}
)");
  EXPECT_THAT(lines(checked), ElementsAre(5));
}

TEST(DroppedMove, TemplateThatIsDefinedBehindItsUse) {
  EXPECT_THAT(lines(check_moves(R"(
template <typename T> void place(T& value);
void run(torch::Tensor t) { place(t); }
template <typename T> void place(T& value) {
  value.to(torch::kCUDA);
}
)")),
              ElementsAre(5));
}

TEST(DroppedMove, TemplateThatInstantiatesItselfWithoutEnd) {
  EXPECT_THAT(lines(check_moves(R"(
template <int n> void step(torch::Tensor t) {
  t.to(torch::kCUDA);
  step<n + 1>(t);
}
void run(torch::Tensor t) { step<0>(t); }
)")),
              ElementsAre(3));
}

class DroppedCall : public ::testing::TestWithParam<const char*> {};

TEST_P(DroppedCall, IsReportedAndAssigned) {
  const std::string call = GetParam();
  const Checked checked = check_statement(call + ";");
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "dropped-move");
  EXPECT_EQ(checked.findings[0].level, Level::kWarning);
  const std::string method = call.substr(2, call.find('(') - 2);
  EXPECT_THAT(checked.findings[0].message, HasSubstr("Tensor::" + method + " "));
  EXPECT_EQ(fixed_statement(call + ";"), "t = " + call + ";");
}

INSTANTIATE_TEST_SUITE_P(DroppedMove, DroppedCall,
                         ::testing::Values("t.to(device)", "t.to(torch::kLong)",
                                           "t.to(t.options())", "t.to(c)",
                                           "t.to(device, torch::kFloat)", "t.to(device, true)",
                                           "t.cuda()", "t.cpu()", "t.contiguous()",
                                           "t.toType(torch::kLong)", "t.detach()", "t.clone()"));

TEST(DroppedMove, PlaceIsTheWholeCall) {
  const Checked checked = check_moves("void f(torch::Tensor t) {\n  t.cuda();\n}");
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].place, (SourceRange{"/project/src/code.cpp", 2, 3, 2, 11}));
}

TEST(DroppedMove, EveryPlaceWhereAStatementCanStand) {
  const Checked checked = check_moves(R"(
void f(torch::Tensor t, torch::Device d, bool flag, std::vector<torch::Tensor> all) {
  if (flag) t.to(d);
  else t.cpu();
  for (t.to(d); flag; t.cpu()) t.clone();
  while (flag) t.detach();
  do t.contiguous(); while (flag);
  for (auto& x : all) x.to(d);
  switch (1) { case 0: t.to(d); default: t.cpu(); }
  label: t.to(d);
  t.to(d), t.zero_();
  flag ? t.to(d) : t.cpu();
  auto run = [&] { t.to(d); };
  try { t.to(d); } catch (...) { t.cpu(); }
  [[likely]] t.to(d);
  (t.to(d));
}
struct S { torch::Tensor t; S() { t.cpu(); } };
template <class T> void g(T, torch::Tensor t) { t.cpu(); }
)");
  EXPECT_THAT(lines(checked), ::testing::UnorderedElementsAre(3, 4, 5, 5, 5, 6, 7, 8, 9, 9, 10, 11,
                                                              12, 12, 13, 14, 14, 15, 16, 18, 19));
}

TEST(DroppedMove, ChainOfMovesIsOneFindingAssignedToItsFirstTensor) {
  EXPECT_THAT(check_statement("t.to(device).contiguous();").findings, SizeIs(1));
  EXPECT_EQ(fixed_statement("t.to(device).contiguous();"), "t = t.to(device).contiguous();");
}

TEST(DroppedMove, ResultOfAnotherCallIsReportedWithoutFix) {
  const Checked checked = check_statement("torch::relu(t).to(device);");
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].fixes, IsEmpty());
}

// Each of these is a finding, but nothing can be assigned, or not by putting `x = ` before it.
class NotAssignable : public ::testing::TestWithParam<const char*> {};

TEST_P(NotAssignable, HasNoFix) {
  const Checked checked = check_moves(GetParam());
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].fixes, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    DroppedMove, NotAssignable,
    ::testing::Values(
        "void f(const torch::Tensor& t) { t.cuda(); }",
        "struct S { torch::Tensor t; void f() const { t.cuda(); } };",
        "void f(const std::vector<torch::Tensor>& all) { for (const auto& t : all) t.cuda(); }",
        "void f(torch::Tensor t) { [t] { t.cuda(); }; }",
        "void f(torch::Tensor t) { t[0].cuda(); }",
        "void f(std::vector<torch::Tensor> v, int i) { v[i++].cuda(); }",
        "#define MOVE(x) do { x.cuda(); } while (0)\nvoid f(torch::Tensor t) { MOVE(t); }",
        "void f(const torch::Tensor* t) { t->cuda(); }",
        "torch::Tensor make(const torch::Tensor&); void f(torch::Tensor t) { make(t).cuda(); }",
        "struct T : torch::Tensor { void f() { cuda(); } };",
        "void f(torch::Tensor t, bool b) { b ? t.cuda() : t; }"));

struct Assignment {
  const char* before;
  const char* after;
};
class Assignable : public ::testing::TestWithParam<Assignment> {};

TEST_P(Assignable, IsAssignedAndThenClean) {
  const Checked checked = check_moves(GetParam().before);
  EXPECT_EQ(checked.fixed(), GetParam().after);
  EXPECT_THAT(check_moves(GetParam().after).findings,
              IsEmpty());  // it compiles, and there is no more to say
}

INSTANTIATE_TEST_SUITE_P(
    DroppedMove, Assignable,
    ::testing::Values(
        Assignment{"#define MOVE(x) x.cuda()\nvoid f(torch::Tensor t) { MOVE(t); }",
                   "#define MOVE(x) x.cuda()\nvoid f(torch::Tensor t) { t = MOVE(t); }"},
        Assignment{"void f(torch::Tensor& t) { t.cuda(); }",
                   "void f(torch::Tensor& t) { t = t.cuda(); }"},
        Assignment{"struct S { torch::Tensor t; void f() { t.cuda(); } };",
                   "struct S { torch::Tensor t; void f() { t = t.cuda(); } };"},
        Assignment{"struct S { torch::Tensor t; void f() { this->t.cuda(); } };",
                   "struct S { torch::Tensor t; void f() { this->t = this->t.cuda(); } };"},
        Assignment{"struct S { mutable torch::Tensor t; void f() const { t.cuda(); } };",
                   "struct S { mutable torch::Tensor t; void f() const { t = t.cuda(); } };"},
        Assignment{"struct B { torch::Tensor x; }; void f(B& b) { b.x.cuda(); }",
                   "struct B { torch::Tensor x; }; void f(B& b) { b.x = b.x.cuda(); }"},
        Assignment{"void f(std::vector<torch::Tensor> v, int i) { v[i].cuda(); }",
                   "void f(std::vector<torch::Tensor> v, int i) { v[i] = v[i].cuda(); }"},
        Assignment{"void f(torch::Tensor* t) { t->cuda(); }",
                   "void f(torch::Tensor* t) { *t = t->cuda(); }"},
        Assignment{"void f(std::optional<torch::Tensor> t) { t->cuda(); }",
                   "void f(std::optional<torch::Tensor> t) { *t = t->cuda(); }"},
        Assignment{"void f(torch::Tensor t) { [&] { t.cuda(); }; }",
                   "void f(torch::Tensor t) { [&] { t = t.cuda(); }; }"},
        Assignment{"void f(torch::Tensor t, torch::ScalarType s) { AT_DISPATCH_FLOATING_TYPES(s, "
                   "\"f\", [&] { t.cuda(); }); }",
                   "void f(torch::Tensor t, torch::ScalarType s) { AT_DISPATCH_FLOATING_TYPES(s, "
                   "\"f\", [&] { t = t.cuda(); }); }"},
        Assignment{"void f(torch::Tensor t) { t.cuda(), t.zero_(); }",
                   "void f(torch::Tensor t) { t = t.cuda(), t.zero_(); }"}));

// The rule's "not" column, and what else must stay silent.
class NotADrop : public ::testing::TestWithParam<const char*> {};

TEST_P(NotADrop, IsNotReported) {
  EXPECT_THAT(check_statement(GetParam()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    DroppedMove, NotADrop,
    ::testing::Values(
        // Module::to is in place and returns void
        "torch::nn::Linear layer(1, 1); layer->to(device);", "torch::nn::Module m; m.to(device);",
        "torch::jit::Module m; m.to(device);", "torch::nn::Module m; m.clone();",
        // a value that is used: in a chain, as an argument, assigned, returned, tested
        "t.to(device).zero_();", "t.to(device).backward();",
        "torch::relu(t.to(device)).backward();", "auto u = t.to(device);", "t = t.to(device);",
        "t += t.to(device);", "auto f = [&] { return t.to(device); };",
        "if (t.to(device).is_cuda()) {}", "auto u = (t.zero_(), t.to(device));",
        "auto u = flag ? t.to(device) : t.cpu();", "auto u = ({ t.zero_(); t.to(device); });",
        "torch::Tensor& u = t; u = u.cpu();",
        // in-place methods
        "t.detach_();", "t.zero_();", "t.copy_(t.to(device));",
        // thrown away on purpose
        "(void)t.to(device);", "static_cast<void>(t.to(device));"));

TEST(DroppedMove, FreshTensorThatWarmsCudaUpIsSilent) {
  EXPECT_THAT(check_statement("torch::zeros({1}).cuda();").findings, IsEmpty());
  EXPECT_THAT(check_statement("torch::zeros(1).to(device);").findings, IsEmpty());
}

TEST(DroppedMove, AssertionThatExpectsAThrowIsSilent) {
  EXPECT_THAT(
      check_moves("#define EXPECT_THROW(statement, type) try { statement; } catch (type&) {}\n"
                  "void f(torch::Tensor t) { EXPECT_THROW(t.cuda(), c10::Error); }")
          .findings,
      IsEmpty());
}

TEST(DroppedMove, BenchmarkLoopIsSilent) {
  EXPECT_THAT(check_moves("namespace benchmark { struct State { int* begin(); int* end(); }; }\n"
                          "void b(benchmark::State& state, torch::Tensor t) {\n"
                          "  for (auto _ : state) t.cuda();\n"
                          "}")
                  .findings,
              IsEmpty());
}

TEST(DroppedMove, MethodsOfOtherClassesAreSilent) {
  EXPECT_THAT(check_moves("struct Cow { Cow clone(); Cow to(int); torch::Tensor cuda(); };\n"
                          "void f(Cow c) { c.clone(); c.to(1); c.cuda(); }")
                  .findings,
              IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
