// The page: what it says, in what order, and that no text of the program's becomes markup.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "devsan/findings/writers.h"
#include "samples.h"

namespace devsan {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const std::vector<Finding>& findings) {
  std::ostringstream out;
  write_report(out, format_of_file("report.html"), findings);
  return out.str();
}

TEST(Html, SaysWhatTheTextSays) {
  const std::string page = page_of({sample_run_finding(), sample_lint_finding()});
  for (const char* said :
       {"device-mismatch", "1 error, 1 warning", "aten::cudnn_convolution",
        "lmm.embeddings.patch_embedding.weight", "rank 1 of 2", "step 0, op 1532",
        "LMM.process_input  train.py:38", "Rank 1 owns cuda:1", "use self.model.device instead of",
        "devsan-dropped-move", "<code>x = </code>"}) {
    EXPECT_THAT(page, HasSubstr(said));
  }
}

TEST(Html, ThePathRunsFromTheCreationToTheUse) {
  const std::string page = page_of({sample_run_finding()});
  const auto created = page.find(">created");
  const auto moved = page.find(">moved");
  const auto used = page.find(">used");
  ASSERT_NE(used, std::string::npos);
  EXPECT_LT(created, moved);
  EXPECT_LT(moved, used);
}

TEST(Html, TextOfTheProgramIsNotMarkup) {
  Finding finding = sample_run_finding();
  const std::string evil = "<script>alert(\"1\")</script>";
  finding.message = finding.why = finding.advice = evil;
  finding.run->error = evil;
  finding.run->arguments[0].parameter = evil;
  finding.run->stack[0].function = evil;
  finding.path[0].note = evil;
  finding.path[0].device = evil;
  finding.place.file = evil;
  const std::string page = page_of({finding});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&quot;1&quot;)"));
}

TEST(Html, LoadsNothing) {
  const std::string page = page_of({sample_run_finding()});
  for (const char* loads : {"http:", "https:", "src=", "url(", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(loads)));
  }
}

TEST(Html, AnEmptyReportSaysSo) {
  EXPECT_THAT(page_of({}), HasSubstr("Nothing was found."));
}

}  // namespace
}  // namespace devsan
