// Files are replaced whole, where they really are, with their permissions.
#include "whole_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <thread>

#include "temporary_folder.h"

namespace devsan::lint::test {
namespace {

namespace fs = std::filesystem;

class WholeFiles : public TemporaryFolder {
 protected:
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(root_), fs::directory_iterator{}));
  }
};

TEST_F(WholeFiles, NewOnesAreMadeAndOldOnesKeepTheirPermissions) {
  const std::string text = std::string("a\r\nb\0c", 6) + "\xff";
  EXPECT_TRUE(replace_file(root_ / "new", text));
  EXPECT_EQ(read_file(root_ / "new"), text);
  fs::permissions(root_ / "new", fs::perms::owner_all);
  EXPECT_TRUE(replace_file(root_ / "new", "other"));
  EXPECT_EQ(read_file(root_ / "new"), "other");
  EXPECT_EQ(fs::status(root_ / "new").permissions(), fs::perms::owner_all);
  EXPECT_EQ(files(), 1U);
}

TEST_F(WholeFiles, LinkStaysALink) {
  const fs::path real = add("real", "old");
  fs::create_symlink(real, root_ / "link");
  EXPECT_TRUE(replace_file(root_ / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(root_ / "link"));
  EXPECT_EQ(read_file(real), "new");
  EXPECT_EQ(files(), 2U);
}

TEST_F(WholeFiles, PipeIsWrittenTo) {
  const fs::path pipe = root_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(pipe); });
  EXPECT_TRUE(replace_file(pipe, "text"));
  reader.join();
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(WholeFiles, WhatCannotBeWrittenIsSaid) {
  EXPECT_FALSE(replace_file(root_ / "no" / "folder" / "file", "text"));
  fs::create_directory(root_ / "folder");
  EXPECT_FALSE(replace_file(root_ / "folder", "text"));
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace devsan::lint::test
