// Lint's text: the first line as compilers print it, the source line with its marker, the fix.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "devsan/findings/writers.h"
#include "samples.h"

namespace devsan {
namespace {

std::string text_of(const Finding& finding) {
  std::ostringstream out;
  write_lint_text(out, {&finding, 1});
  return out.str();
}

TEST(LintText, WithoutTheSource) {
  EXPECT_EQ(text_of(sample_lint_finding()),
            "model.cpp:7:3: warning: the result of Tensor::to is dropped: 'x' stays where it is "
            "[devsan-dropped-move]\n"
            "model.cpp:7:3: note: fix: insert 'x = '\n");
}

TEST(LintText, QuotesTheLineAndMarksTheRange) {
  const auto folder = std::filesystem::temp_directory_path() / "devsan-lint-text";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "model.cpp").string();
  std::ofstream(file) << "\tx.to(device);\n";
  Finding finding = sample_lint_finding();
  finding.place = {file, 1, 2, 1, 14};
  finding.fixes.clear();
  finding.advice = "assign the result";
  EXPECT_EQ(text_of(finding), file + ":1:2: warning: " + finding.message +
                                  " [devsan-dropped-move]\n" +
                                  "    1 | \tx.to(device);\n"
                                  "      | \t^~~~~~~~~~~~\n" +
                                  file + ":1:2: note: assign the result\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace devsan
