// `// NOLINT` in its four forms.
#include "checks/nolint.h"

#include <gtest/gtest.h>

namespace devsan::lint::test {
namespace {

constexpr const char* kRule = "devsan-dropped-move";

TEST(Nolint, OnTheLine) {
  EXPECT_TRUE(is_silenced("t.to(d);  // NOLINT", 1, kRule));
  EXPECT_TRUE(is_silenced("t.to(d);  // NOLINT(devsan-dropped-move)", 1, kRule));
  EXPECT_TRUE(is_silenced("t.to(d);  // NOLINT(bugprone-x, devsan-dropped-move)", 1, kRule));
  EXPECT_TRUE(is_silenced("t.to(d);  // NOLINT(devsan-*)", 1, kRule));
  EXPECT_FALSE(is_silenced("t.to(d);  // NOLINT(devsan-hard-coded-device)", 1, kRule));
  EXPECT_FALSE(is_silenced("t.to(d);  // NOLINTER", 1, kRule));
  EXPECT_FALSE(is_silenced("// NOLINT\nt.to(d);", 2, kRule));
}

TEST(Nolint, OnTheLineBefore) {
  EXPECT_TRUE(is_silenced("// NOLINTNEXTLINE(devsan-dropped-move)\nt.to(d);", 2, kRule));
  EXPECT_TRUE(is_silenced("// NOLINTNEXTLINE\nt.to(d);", 2, kRule));
  EXPECT_FALSE(is_silenced("// NOLINTNEXTLINE\n\nt.to(d);", 3, kRule));
  EXPECT_FALSE(is_silenced("t.to(d);  // NOLINTNEXTLINE", 1, kRule));
}

TEST(Nolint, BetweenBeginAndEnd) {
  const char* text =
      "a\n// NOLINTBEGIN(devsan-dropped-move)\nb\n// NOLINTEND(devsan-dropped-move)\nc\n";
  EXPECT_FALSE(is_silenced(text, 1, kRule));
  EXPECT_TRUE(is_silenced(text, 3, kRule));
  EXPECT_FALSE(is_silenced(text, 5, kRule));
  EXPECT_FALSE(is_silenced(text, 3, "devsan-hard-coded-device"));
}

}  // namespace
}  // namespace devsan::lint::test
