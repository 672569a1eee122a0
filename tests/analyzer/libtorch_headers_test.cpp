// Every function of LibTorch's headers through all rules, as if they were the project's own:
// nothing crashes, nearly nothing is over a limit, and what is found was looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "llvm/Support/VirtualFileSystem.h"
#include "real_torch.h"
#include "translation_unit.h"

namespace devsan::lint::test {
namespace {

namespace fs = std::filesystem;

TEST(LibTorchHeaders, AreReadToTheirEndAndGoodAsTheyAre) {
  const fs::path folder = fs::path(::testing::TempDir()) / "devsan_libtorch_headers";
  fs::create_directories(folder);
  const std::string file = folder / "all.cpp";
  std::ofstream(file) << "#include <torch/torch.h>\n";

  const FileFlags flags = real_torch_flags();
  const OwnCode own({file}, {flags.torch.include.string()});
  const UnitReport report =
      analyse_unit(file, flags, /*pch=*/"", llvm::vfs::createPhysicalFileSystem(), own, RuleSet{});
  fs::remove_all(folder);

  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.first_error, "");
  EXPECT_GT(report.own_files.size(), 1000U);
  EXPECT_GT(report.confidence.statements, 10000) << "bodies were skipped";
  EXPECT_EQ(report.confidence.broken_statements, 0);
  EXPECT_LE(report.functions_over_limit, 1);
  // Two are true of the code: what Tensor::cuda() and Tensor::hip() themselves are made of.
  std::vector<std::string> found;
  for (const Finding& finding : report.findings) {
    found.push_back(fs::path(finding.place.file).filename().string() + " " + finding.rule);
  }
  EXPECT_THAT(found, ::testing::ElementsAre("TensorBody.h hard-coded-device",
                                            "TensorBody.h hard-coded-device"));
}

}  // namespace
}  // namespace devsan::lint::test
