// Which process of a job this is.
#include "core/process_facts.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace devsan::trace {
namespace {

class ProcessFactsTest : public testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "SLURM_PROCID"}) unsetenv(name);
  }
};

TEST_F(ProcessFactsTest, AreUnknownWithoutALauncher) {
  const ProcessFacts facts = process_facts();
  EXPECT_FALSE(facts.rank || facts.world_size || facts.local_rank);
  EXPECT_FALSE(facts.is_one_of_several());
}

TEST_F(ProcessFactsTest, AreReadWhenTheyAreAskedFor) {
  process_facts();
  setenv("RANK", "3", 1);
  setenv("WORLD_SIZE", "4", 1);
  setenv("LOCAL_RANK", "1", 1);
  const ProcessFacts facts = process_facts();
  EXPECT_EQ(facts.rank, 3);
  EXPECT_EQ(facts.local_rank, 1);
  EXPECT_TRUE(facts.is_one_of_several());
}

TEST_F(ProcessFactsTest, OfTheLargestGroupWhereNoVariableSaysIt) {
  note_process_group(0, 2);
  note_process_group(5, 8);
  note_process_group(1, 4);
  EXPECT_EQ(process_facts().rank, 5);
  EXPECT_EQ(process_facts().world_size, 8);
  setenv("RANK", "6", 1);
  setenv("WORLD_SIZE", "8", 1);
  EXPECT_EQ(process_facts().rank, 6);
}

}  // namespace
}  // namespace devsan::trace
