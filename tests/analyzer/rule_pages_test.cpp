// The rules' pages: what they call bad is found, what they call good is not, and both compile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "check_code.h"
#include "devsan/findings/catalogue.h"

namespace devsan::lint::test {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;

std::vector<std::string> lint_rules() {
  std::vector<std::string> ids;
  for (const Rule& rule : rules()) {
    // frozen-device is about archives, which script_archive_test.py makes.
    if (rule.half == Half::kLint && rule.id != "frozen-device") ids.emplace_back(rule.id);
  }
  return ids;
}

// The first piece of C++ below a heading of a page.
std::string code_below(const std::string& page, const std::string& heading) {
  const std::string fence = "```cpp\n";
  const std::size_t section = page.find("\n## " + heading + "\n");
  const std::size_t begin = page.find(fence, section) + fence.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

// A CUDA file where the example has a kernel.
std::string path_of(const std::string& code) {
  const bool cuda = code.find("__global__") != std::string::npos;
  return cuda ? "/project/src/code.cu" : "/project/src/code.cpp";
}

class RulePage : public ::testing::TestWithParam<std::string> {
 protected:
  Checked check_example(const std::string& heading) const {
    const std::string page_name(find_rule(GetParam(), Half::kLint)->page);
    const std::string path = DEVSAN_RULE_PAGES "/" + page_name + ".md";
    std::ifstream in(path);
    std::stringstream page;
    page << in.rdbuf();
    EXPECT_NE(page.str().find("\n## " + heading + "\n"), std::string::npos) << path;
    const std::string code = code_below(page.str(), heading);
    return check(code, RuleSet::parse("-*,devsan-" + GetParam()), path_of(code));
  }
};

TEST_P(RulePage, BadIsFoundAndGoodIsNot) {
  const auto of_rule = Contains(Field(&Finding::rule, GetParam()));
  EXPECT_THAT(check_example("Bad").findings, of_rule);
  EXPECT_THAT(check_example("Good").findings, Not(of_rule));
}

// What a rule offers to edit in its bad example can be edited: the code compiles, which `check`
// asks for, and nothing is left that the rule would edit again.
TEST_P(RulePage, FixesCompileAndAreMadeOnce) {
  const RuleSet rule = RuleSet::parse("-*,devsan-" + GetParam());
  const auto has_fix = [](const Finding& finding) { return !finding.fixes.empty(); };
  const Checked bad = check_example("Bad");
  const auto fixable = std::count_if(bad.findings.begin(), bad.findings.end(), has_fix);
  const Checked fixed = check(bad.fixed(), rule, path_of(bad.code));
  EXPECT_EQ(std::count_if(fixed.findings.begin(), fixed.findings.end(), has_fix), 0) << fixed.code;
  EXPECT_EQ(fixed.findings.size() + static_cast<std::size_t>(fixable), bad.findings.size());
  EXPECT_EQ(fixed.fixed(), fixed.code);
}

INSTANTIATE_TEST_SUITE_P(Every, RulePage, ::testing::ValuesIn(lint_rules()), [](const auto& page) {
  std::string name = page.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace devsan::lint::test
