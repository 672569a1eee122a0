// The command line: what it accepts, and the one line it says otherwise.
#include "options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace devsan::lint::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Options parse(std::vector<const char*> words) {
  words.insert(words.begin(), "devsan-lint");
  return parse_options(static_cast<int>(words.size()), words.data());
}

std::string complaint(const std::vector<const char*>& words) {
  try {
    parse(words);
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "accepted";
}

TEST(LintOptions, Defaults) {
  const Options options = parse({"a.cpp"});
  EXPECT_THAT(options.paths, ElementsAre("a.cpp"));
  EXPECT_EQ(options.format, Format::kText);
  EXPECT_TRUE(options.cache);
  EXPECT_FALSE(options.fix);
  EXPECT_EQ(options.threads, 0U);
}

TEST(LintOptions, All) {
  const Options options = parse({"-p", "build", "--torch", "/t", "--rules", "-devsan-dropped-move",
                                 "--format", "sarif", "-o", "out.sarif", "--fix", "-j", "4",
                                 "--no-cache", "--cache-limit", "3GB", "a.cpp", "src"});
  EXPECT_EQ(options.build_folder, "build");
  EXPECT_EQ(options.torch, "/t");
  EXPECT_EQ(options.rules, "-devsan-dropped-move");
  EXPECT_EQ(options.format, Format::kSarif);
  EXPECT_EQ(options.output, "out.sarif");
  EXPECT_TRUE(options.fix);
  EXPECT_EQ(options.threads, 4U);
  EXPECT_FALSE(options.cache);
  EXPECT_EQ(options.cache_limit, std::uint64_t{3} << 30);
  EXPECT_THAT(options.paths, ElementsAre("a.cpp", "src"));
}

TEST(LintOptions, WrongUseSaysWhatIsWrongAndWhatIsAccepted) {
  EXPECT_THAT(complaint({}), HasSubstr("no input"));
  EXPECT_THAT(complaint({"--format", "xml", "a.cpp"}), HasSubstr("accepted: text, json, sarif"));
  EXPECT_THAT(complaint({"-j", "0", "a.cpp"}), HasSubstr("accepted: 1 to 1024"));
  EXPECT_THAT(complaint({"-j", "many", "a.cpp"}), HasSubstr("'many'"));
  for (const char* size : {"", "0", "5", "-1GB", "5 GB", "5TB", "99999999999999999999GB"}) {
    EXPECT_THAT(complaint({"--cache-limit", size, "a.cpp"}), HasSubstr("is not a size; accepted:"));
  }
  EXPECT_THAT(complaint({"--base-line", "f", "a.cpp"}), HasSubstr("accepted: -p --torch"));
  EXPECT_THAT(complaint({"--baseline", "f", "--write-baseline", "g", "a.cpp"}),
              HasSubstr("cannot be used together"));
  EXPECT_THAT(complaint({"--rules", "nonsense", "a.cpp"}), HasSubstr("devsan-dropped-move"));
}

TEST(LintOptions, HelpShowsAnExample) {
  try {
    parse({"--help"});
    FAIL() << "no help";
  } catch (const HelpRequested& help) {
    EXPECT_THAT(help.text, HasSubstr("Example:"));
    EXPECT_THAT(help.text, HasSubstr("--fix"));
  }
}

}  // namespace
}  // namespace devsan::lint::test
