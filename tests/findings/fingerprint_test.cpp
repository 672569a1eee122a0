// Fingerprints stay when lines move, and change with what the finding says.
#include <gtest/gtest.h>

#include "devsan/findings/finding.h"
#include "samples.h"

namespace devsan {
namespace {

TEST(Fingerprint, StaysWhenTheLineMovesOrIsIndented) {
  Finding moved = sample_lint_finding();
  moved.place.line = 70;
  moved.place.file = "src/" + moved.place.file;
  EXPECT_EQ(fingerprint(sample_lint_finding(), "x.to(device);"),
            fingerprint(moved, "    x.to(device);\r"));
}

TEST(Fingerprint, ChangesWithRuleMessageFileAndLineText) {
  const std::string base = fingerprint(sample_lint_finding(), "x.to(device);");
  EXPECT_NE(base, fingerprint(sample_lint_finding(), "y.to(device);"));
  Finding other = sample_lint_finding();
  other.rule = "hard-coded-device";
  EXPECT_NE(base, fingerprint(other, "x.to(device);"));
  other = sample_lint_finding();
  other.message += ".";
  EXPECT_NE(base, fingerprint(other, "x.to(device);"));
  other = sample_lint_finding();
  other.place.file = "net.cpp";
  EXPECT_NE(base, fingerprint(other, "x.to(device);"));
}

// FNV-1a's published test vector for the empty text, with our separator byte after each of four
// parts.
TEST(Fingerprint, IsTheSameOnEveryMachine) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (int part = 0; part < 4; ++part) hash = (hash ^ 0xff) * 0x100000001b3u;
  char expected[17];
  std::snprintf(expected, sizeof expected, "%016llx", static_cast<unsigned long long>(hash));
  EXPECT_EQ(fingerprint(Finding{}, ""), expected);
}

}  // namespace
}  // namespace devsan
