// Which moves are those of a tensor's siblings.
#include "core/siblings.h"

#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;

// make_batch(), called at line 50 of train().
Stack in_make_batch(int line) {
  return {user("make_batch", line), user("train", 50), user("main", 99)};
}

RunMove moved_at(int line, Stack made, std::uint64_t sequence = 1) {
  return {kCuda0,
          sequence,
          "aten::to",
          {user("process", line), user("train", 51), user("main", 99)},
          std::move(made)};
}

int line_of(const RunMove* move) {
  return move ? move->moved.front().frame.line : 0;
}

TEST(Siblings, OthersOfTheSameCall) {
  const std::vector moves{moved_at(70, in_make_batch(31), 8), moved_at(66, in_make_batch(30), 7)};
  EXPECT_EQ(line_of(move_of_siblings(in_make_batch(33), kCuda0, moves)), 66);  // the earliest
}

TEST(Siblings, NotWhatWentElsewhere) {
  EXPECT_FALSE(
      move_of_siblings(in_make_batch(33), kCuda1, std::vector{moved_at(66, in_make_batch(30))}));
}

TEST(Siblings, NotOfAnotherCallOrFunction) {
  Stack other_call = in_make_batch(30);
  other_call[1].frame.line = 60;
  Stack other_function = in_make_batch(30);
  other_function[0].frame.function = "make_model";
  for (const Stack& made : {other_call, other_function, Stack{user("main", 99)}, Stack{}}) {
    EXPECT_FALSE(move_of_siblings(in_make_batch(33), kCuda0, std::vector{moved_at(66, made)}));
  }
}

TEST(Siblings, NotParametersOfModulesMadeThere) {
  Stack weight{{{"Linear.__init__", "linear.py", 9}, Owner::kInternal}};
  const Stack made = in_make_batch(30);
  weight.insert(weight.end(), made.begin(), made.end());
  EXPECT_FALSE(move_of_siblings(in_make_batch(33), kCuda0, std::vector{moved_at(66, weight)}));
}

TEST(Siblings, NotWhatALibraryMoved) {
  RunMove move = moved_at(66, in_make_batch(30));
  move.moved = {library("send_to_device")};
  EXPECT_FALSE(move_of_siblings(in_make_batch(33), kCuda0, std::vector{move}));
}

}  // namespace
}  // namespace devsan::trace
