// Which files are analysed, and whose code they are.
#include "source_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "own_code.h"

namespace devsan::lint::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class SourceTree : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) /
            (std::string("devsan_files_") +
             ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string add(const std::string& name) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << "";
    return (root_ / name).string();
  }

  fs::path root_;
};

TEST_F(SourceTree, FolderGivesSourcesInOrder) {
  const std::string b = add("src/b.cpp");
  const std::string a = add("src/a.cc");
  const std::string header = add("include/a.h");
  const std::string kernel = add("src/kernel.cu");
  const std::string kernel_header = add("src/kernel.cuh");
  add("README.md");
  add("third_party/lib/x.cpp");
  add("build/generated.cpp");
  add(".git/hook.cpp");
  const SourceFiles files = collect_files({root_.string()});
  EXPECT_THAT(files.units, ElementsAre(a, b, kernel));
  EXPECT_THAT(files.headers, ElementsAre(header, kernel_header));
}

TEST_F(SourceTree, FilesGivenByNameAreTakenOnceWhereverTheyLie) {
  const std::string vendored = add("third_party/x.cpp");
  const std::string cuda = add("k.cuh");
  const SourceFiles files = collect_files({vendored, vendored, cuda});
  EXPECT_THAT(files.units, ElementsAre(vendored, cuda));
}

TEST_F(SourceTree, WrongInputIsRefused) {
  add("notes.txt");
  EXPECT_THROW(collect_files({(root_ / "missing.cpp").string()}), std::invalid_argument);
  EXPECT_THROW(collect_files({(root_ / "notes.txt").string()}), std::invalid_argument);
  EXPECT_THROW(collect_files({root_.string()}), std::invalid_argument);
}

TEST_F(SourceTree, ProjectStartsAtItsMarker) {
  add("repo/.git/config");
  add("repo/sub/CMakeLists.txt");
  const std::string in_repo = add("repo/sub/src/a.cpp");
  EXPECT_EQ(project_root_of(in_repo), root_ / "repo");
  add("cmake/CMakeLists.txt");
  add("cmake/src/CMakeLists.txt");
  EXPECT_EQ(project_root_of(add("cmake/src/a.cpp")), root_ / "cmake");
}

TEST(OwnCode, IsBelowTheProjectAndNotVendored) {
  const OwnCode own({"/other/x.cpp"}, {"/project"});
  EXPECT_TRUE(own.contains("/project/src/a.h"));
  EXPECT_TRUE(own.contains("/other/x.cpp"));
  EXPECT_FALSE(own.contains("/project/third_party/a.h"));
  EXPECT_FALSE(own.contains("/project/.venv/lib/torch/a.h"));
  EXPECT_FALSE(own.contains("/projects/a.h"));
  EXPECT_FALSE(own.contains("/usr/include/a.h"));
  EXPECT_EQ(own.root_of("/project/src/a.cpp"), "/project");
  EXPECT_EQ(own.root_of("/other/x.cpp"), "/other");
}

}  // namespace
}  // namespace devsan::lint::test
