// The cache's limit: what goes first, what goes together, what stays.
#include "cache_folder.h"

#include <gmock/gmock.h>

#include <chrono>

#include "temporary_folder.h"

namespace devsan::lint::test {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

class Cache : public TemporaryFolder {
 protected:
  void add_used(const std::string& name, std::size_t size, int hours_ago) {
    const std::string path = add(name, std::string(size, 'x'));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  }

  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

TEST_F(Cache, OldestGoUntilTheRestFits) {
  add_used("results/a", 100, 3);
  add_used("results/b", 100, 5);
  add_used("headers/c.pch", 100, 4);
  prune_cache(root_, 300);
  EXPECT_THAT(left(), UnorderedElementsAre("a", "b", "c.pch"));
  prune_cache(root_, 299);
  EXPECT_THAT(left(), UnorderedElementsAre("a", "c.pch"));
  prune_cache(root_, 199);
  EXPECT_THAT(left(), UnorderedElementsAre("a"));
}

TEST_F(Cache, FilesOfOneNameAreOneAndAsYoungAsTheYoungest) {
  add_used("headers/a.pch", 100, 9);
  add_used("headers/a.sum", 1, 1);
  add_used("results/b", 100, 2);
  prune_cache(root_, 150);
  EXPECT_THAT(left(), UnorderedElementsAre("a.pch", "a.sum"));
  prune_cache(root_, 50);
  EXPECT_TRUE(left().empty());
}

TEST_F(Cache, WhatIsInUseStays) {
  add_used("results/a", 100, 0);
  add_used("results/b", 100, 1);
  mark_used(root_ / "results" / "b");
  prune_cache(root_, 10);
  EXPECT_THAT(left(), UnorderedElementsAre("a", "b"));
}

TEST_F(Cache, WhatIsNotLintsOwnIsNeitherCountedNorRemoved) {
  add_used("venv/bin/python", 1000, 9);
  add_used("setup.lock", 1000, 9);
  add_used("results/a", 100, 3);
  prune_cache(root_, 100);
  EXPECT_THAT(left(), UnorderedElementsAre("python", "setup.lock", "a"));
  prune_cache(root_, 10);
  EXPECT_THAT(left(), UnorderedElementsAre("python", "setup.lock"));
}

}  // namespace
}  // namespace devsan::lint::test
