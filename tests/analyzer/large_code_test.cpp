// Code that machines write: thousands of lines in a function, deep nesting, long lists. The rules
// end, within the stack that every front end gives them, and say nothing of what they cannot
// follow.
#include <gtest/gtest.h>

#include <optional>

#include "check_code.h"
#include "llvm/Support/thread.h"

namespace devsan::lint::test {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// `before0after before1after ...`
std::string numbered(const std::string& before, const std::string& after, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += before + std::to_string(i) + after;
  return all;
}

std::string function(const std::string& body) {
  return "torch::Tensor f(torch::Tensor x, int i) {" + body + "}\n";
}

struct Code {
  std::string name;
  std::string code;
  std::size_t dropped;  // moves that are dropped, and so found
};

class Large : public ::testing::TestWithParam<Code> {};

TEST_P(Large, IsReadToItsEnd) {
  Checked checked;
  // 8 MB: what clang-tidy's main thread has; devsan-lint gives more.
  llvm::thread thread(std::optional<unsigned>(8U << 20),
                      [&] { checked = check_anything(GetParam().code); });
  thread.join();
  std::size_t dropped = 0;
  for (const Finding& finding : checked.findings) dropped += finding.rule == "dropped-move";
  EXPECT_EQ(dropped, GetParam().dropped);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, Large,
    ::testing::Values(
        Code{"TenThousandLines",
             function("x.cuda();\n" +
                      numbered("auto y", " = x + torch::zeros({2}, x.options());\n", 10000) +
                      "return x;"),
             1},
        Code{"BranchesInALine",
             function(repeated("if (x.is_cuda()) x = x.cpu(); else x.cuda();\n", 3000) +
                      "return x;"),
             3000},
        Code{"ManyCases",
             function("switch (i) {" + numbered("case ", ": x = x.cuda(); break;\n", 3000) +
                      "} x.cpu(); return x + torch::zeros({2});"),
             1},
        Code{"LabelsAndJumps",
             function(numbered("l", ": if (i > 3) { x = x.cuda(); goto l7; }\n", 500) +
                      "x.cpu(); return x;"),
             1},
        Code{"VariablesThatChaseEachOther",
             function(numbered("torch::Tensor v", " = x.cuda();\n", 400) + "while (i) {" +
                      numbered("if (i == 3) v0 = v1 + v", ";\n", 400) + "} x.cpu(); return v0;"),
             1}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Nesting, Large,
    ::testing::Values(
        Code{"Blocks",
             function(repeated("{", 250) + "x.cuda();" + repeated("}", 250) + "return x;"), 1},
        Code{"Calls",
             function("x.cuda(); return " + repeated("torch::relu(", 250) + "x" +
                      repeated(")", 250) + ";"),
             1},
        Code{"Lambdas",
             "auto f(torch::Tensor x) { x.cuda(); return " + repeated("[&] { return ", 100) + "x" +
                 repeated("; }()", 100) + "; }",
             1},
        Code{"SumThatIsFollowed", function("x.cuda(); return x" + repeated(" + x", 300) + ";"), 1},
        Code{"SumThatIsNot", function("x.cuda(); return x" + repeated(" + x", 2000) + ";"), 0},
        Code{"NumbersThatAreNot",
             function("x.cuda(); i = 1" + repeated(" + 1", 50000) + "; return x;"), 0},
        Code{"ChainThatIsFollowed", function("x.cuda(); return x" + repeated(".add(x)", 250) + ";"),
             1},
        Code{"ChainThatIsNot", function("x.cuda(); return x" + repeated(".add(x)", 1500) + ";"), 0},
        Code{"ElseIfThatIsFollowed",
             function("x.cuda(); " + numbered("if (i == ", ") x = x.cuda(); else ", 1000) +
                      "x = x.cpu(); return x;"),
             1},
        Code{"ElseIfThatIsNot",
             function("x.cuda(); " + numbered("if (i == ", ") x = x.cuda(); else ", 4000) +
                      "x = x.cpu(); return x;"),
             0},
        Code{"InAConstructor",
             "struct S { int i; torch::Tensor x; S() : i(1" + repeated(" + 1", 50000) +
                 ") { x.cuda(); } };",
             0},
        Code{"InALocalClass",
             "void f(torch::Tensor x) { x.cuda(); struct S { int g() { return 1" +
                 repeated(" + 1", 50000) + "; } }; }",
             0}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    ListsAndTemplates, Large,
    ::testing::Values(
        Code{"Numbers",
             "void f(torch::Tensor x) { x.cuda(); double a[] = {" + repeated("1.0, ", 100000) +
                 "}; }",
             1},
        Code{"Tensors",
             function("x.cpu(); return torch::cat({" + repeated("x.cuda(), x, ", 3000) + "});"), 1},
        Code{"Recursion",
             "torch::Tensor b(torch::Tensor x);\n"
             "torch::Tensor a(torch::Tensor x) { x.cpu(); return b(x.cuda()); }\n"
             "torch::Tensor b(torch::Tensor x) { return a(x.cpu()) + b(a(b(x))); }\n",
             1},
        Code{"RecursiveTemplate",
             "template <int N> struct S { static auto f(torch::Tensor x) { x.cuda(); return S<N - "
             "1>::f(x); } };\n"
             "template <> struct S<0> { static auto f(torch::Tensor x) { return x; } };\n"
             "auto g(torch::Tensor x) { return S<200>::f(x); }\n",
             1},
        Code{"EndlessTemplate",
             "template <int N> struct T { using type = typename T<N + 1>::type; };\n"
             "void g(torch::Tensor x) { T<0>::type t; }\n",
             0},
        Code{"ClassWithManyMembers",
             "struct N : torch::nn::Module { " + numbered("torch::Tensor t", ";\n", 2000) +
                 "torch::Tensor forward(torch::Tensor x) { x.cuda(); " +
                 numbered("x = x + t", ";\n", 2000) + "return x; } };",
             1}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace devsan::lint::test
