// Edits in files: together or not at all, whole files or none.
#include "apply_fixes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace devsan::lint::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Fix edit(int line, int column, int end_column, const std::string& text,
         const std::string& file = "f") {
  return Fix{SourceRange{file, line, column, line, end_column}, text};
}

Finding finding(std::vector<Fix> fixes) {
  Finding result;
  result.fixes = std::move(fixes);
  return result;
}

std::string apply(const std::string& text, const std::vector<Finding>& findings,
                  std::vector<std::size_t>& applied) {
  std::vector<const Finding*> pointers;
  for (const Finding& one : findings) pointers.push_back(&one);
  return with_fixes(text, pointers, applied);
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : folder_(fs::path(::testing::TempDir()) /
                ("devsan_fix_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
    fs::create_directories(folder_);
    std::ofstream(path()) << text;
  }
  ~TemporaryFile() { fs::remove_all(folder_); }

  fs::path path() const { return folder_ / "code.cpp"; }
  std::string text() const {
    std::ifstream in(path());
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::size_t files_beside() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }

 private:
  fs::path folder_;
};

TEST(WithFixes, InsertsReplacesAndKeepsTheRest) {
  std::vector<std::size_t> applied;
  EXPECT_EQ(
      apply("ab\ncd\n", {finding({edit(1, 1, 1, "x ")}), finding({edit(2, 2, 3, "DD")})}, applied),
      "x ab\ncDD\n");
  EXPECT_THAT(applied, ElementsAre(0U, 1U));
}

TEST(WithFixes, OverlappingFindingIsLeftOutWhole) {
  std::vector<std::size_t> applied;
  const auto text = apply(
      "abcdef", {finding({edit(1, 1, 4, "X")}), finding({edit(1, 6, 7, "Y"), edit(1, 2, 3, "Z")})},
      applied);
  EXPECT_EQ(text, "Xdef");
  EXPECT_THAT(applied, ElementsAre(0U));
}

TEST(WithFixes, TwoInsertionsAtOnePlaceAreNotBothMade) {
  std::vector<std::size_t> applied;
  EXPECT_EQ(apply("a", {finding({edit(1, 1, 1, "x")}), finding({edit(1, 1, 1, "y")})}, applied),
            "xa");
}

TEST(WithFixes, PlaceOutsideTheTextIsLeftOut) {
  std::vector<std::size_t> applied;
  EXPECT_EQ(apply("a\n", {finding({edit(7, 1, 1, "x")})}, applied), "a\n");
  EXPECT_THAT(applied, IsEmpty());
}

TEST(ApplyFixes, WritesTheFileAndLeavesNothingBeside) {
  const TemporaryFile file("t.cuda();\n");
  fs::permissions(file.path(),
                  fs::perms::owner_read | fs::perms::owner_write | fs::perms::owner_exec);
  const std::vector<Finding> findings{finding({edit(1, 1, 1, "t = ", file.path().string())}),
                                      finding({})};
  const FixOutcome outcome = apply_fixes(findings);
  EXPECT_EQ(file.text(), "t = t.cuda();\n");
  EXPECT_THAT(outcome.fixed, ElementsAre(true, false));
  EXPECT_THAT(outcome.failures, IsEmpty());
  EXPECT_EQ(file.files_beside(), 1U);
  EXPECT_EQ(fs::status(file.path()).permissions() & fs::perms::owner_exec, fs::perms::owner_exec);
}

TEST(ApplyFixes, FileThatCannotBeReplacedIsNamedAndUntouched) {
  const std::string missing = "/nonexistent-folder/code.cpp";
  const std::vector<Finding> findings{finding({edit(1, 1, 1, "t = ", missing)})};
  const FixOutcome outcome = apply_fixes(findings);
  ASSERT_THAT(outcome.failures, ::testing::SizeIs(1));
  EXPECT_THAT(outcome.failures[0], ::testing::HasSubstr(missing));
  EXPECT_THAT(outcome.fixed, ElementsAre(false));
}

}  // namespace
}  // namespace devsan::lint::test
