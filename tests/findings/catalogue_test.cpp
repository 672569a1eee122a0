// The catalogue: ids are unique and stable, and each rule has its page.
#include "devsan/findings/catalogue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "samples.h"

namespace devsan {
namespace {

TEST(Catalogue, IdsAreUniqueInTheirHalf) {
  std::set<std::pair<Half, std::string>> seen;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(seen.emplace(rule.half, rule.id).second) << rule.id;
    EXPECT_FALSE(rule.summary.empty()) << rule.id;
  }
}

TEST(Catalogue, FindsLintRulesWithAndWithoutPrefix) {
  ASSERT_NE(find_rule("devsan-dropped-move", Half::kLint), nullptr);
  EXPECT_EQ(find_rule("devsan-dropped-move", Half::kLint), find_rule("dropped-move", Half::kLint));
  EXPECT_EQ(find_rule("dropped-move", Half::kRun), nullptr);
  EXPECT_EQ(find_rule("devsan-device-mismatch", Half::kRun), nullptr);
}

TEST(Catalogue, PublicIdsCarryThePrefixInLintOnly) {
  EXPECT_EQ(public_id(sample_lint_finding()), "devsan-dropped-move");
  EXPECT_EQ(public_id(sample_run_finding()), "device-mismatch");
}

}  // namespace
}  // namespace devsan
