// Which moves are a library's own, and how they are counted together.
#include "core/silent_move.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;
using Kind = Origin::Kind;
using testing::HasSubstr;

const OwnedFrame kModuleCall = {
    {"Module._call_impl", "/p/site-packages/torch/nn/modules/module.py", 1784}, Owner::kInternal};

OwnedFrame package(std::string function, std::string file, int line) {
  return {{std::move(function), "/p/site-packages/" + std::move(file), line}, Owner::kLibrary};
}

// accelerate's hook moves an argument of a module that the user's line 41 calls.
Stack hook_stack() {
  return {package("send_to_device", "accelerate/utils/operations.py", 170),
          package("AlignDevicesHook.pre_forward", "accelerate/hooks.py", 397), kModuleCall,
          user("Net.forward", 41)};
}

Traffic moved(Stack stack, Device from = kCuda0, Device to = kCuda1) {
  Traffic traffic;
  traffic.from = from;
  traffic.to = to;
  traffic.op = "aten::to";
  traffic.stack = std::move(stack);
  traffic.count = 6;
  traffic.bytes = 6 * 24576;
  traffic.steps = 6;
  return traffic;
}

TEST(SilentMove, HookOfALibrary) {
  EXPECT_TRUE(is_silent_move(moved(hook_stack())));
}

TEST(SilentMove, ForwardOfALibrarysModel) {
  EXPECT_TRUE(is_silent_move(moved({package("Idefics.forward", "transformers/idefics.py", 993),
                                    kModuleCall, package("LMM.forward", "transformers/a.py", 5),
                                    kModuleCall, user("ICVModel.forward", 60)})));
}

TEST(SilentMove, NotTheUsersOwnMove) {
  EXPECT_FALSE(is_silent_move(moved({user("Net.forward", 41), kModuleCall, user("main", 60)})));
  // Nor where a library runs the user's forward.
  EXPECT_FALSE(is_silent_move(
      moved({user("Net.forward", 41), kModuleCall,
             package("Trainer.train", "transformers/trainer.py", 7), user("main", 60)})));
}

TEST(SilentMove, NotAFunctionThatTheUserCalledToMove) {
  EXPECT_FALSE(
      is_silent_move(moved({package("send_to_device", "accelerate/utils/operations.py", 170),
                            user("Net.forward", 41), kModuleCall, user("main", 60)})));
}

// A framework that brings a batch to the device of its model.
Traffic batch() {
  return moved({package("send_to_device", "accelerate/utils/operations.py", 170),
                package("DataLoaderShard.__iter__", "accelerate/data_loader.py", 9),
                package("Trainer.train", "transformers/trainer.py", 7), user("main", 60)},
               kCpu, kCuda0);
}

TEST(SilentMove, ABatchOnItsWayToTheModelIsANote) {
  EXPECT_FALSE(is_silent_move(batch()));
  EXPECT_TRUE(is_delivery(batch()));
  const std::vector<Finding> findings = silent_moves(std::vector{batch()}, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].level, Level::kNote);
  EXPECT_THAT(findings[0].message, HasSubstr("accelerate/data_loader.py:9 moved"));
}

TEST(SilentMove, NoteOnlyOfWhatALibraryDecided) {
  for (const Stack& stack : {
           Stack{user("Net.forward", 41), package("Trainer.train", "transformers/trainer.py", 7)},
           Stack{package("fetch", "movers.py", 19), user("main", 60)},
           Stack{package("send_to_device", "accelerate/utils/operations.py", 170),
                 package("recursively_apply", "accelerate/utils/operations.py", 120),
                 user("main", 60)},
           Stack{user("main", 60)},
       }) {
    EXPECT_FALSE(is_delivery(moved(stack, kCpu, kCuda0)));
  }
}

TEST(SilentMove, NotWhatPyTorchMoves) {
  EXPECT_FALSE(is_silent_move(
      moved({{{"Scatter.forward", "/p/site-packages/torch/nn/parallel/_functions.py", 9},
              Owner::kInternal},
             kModuleCall,
             user("main", 60)})));
}

TEST(SilentMove, NotWhatWasMadeThere) {
  Traffic made = moved(hook_stack());
  made.kind = Kind::kCreated;
  EXPECT_FALSE(is_silent_move(made));
}

TEST(SilentMove, NotAConstantOfTheLibrary) {
  Traffic constant = moved(hook_stack(), kCpu, kCuda1);
  constant.source = {step(Kind::kCreated, kCpu, hook_stack())};
  EXPECT_FALSE(is_silent_move(constant));
  constant.source = {step(Kind::kCreated, kCpu, {user("main", 50)})};
  EXPECT_TRUE(is_silent_move(constant));
}

TEST(SilentMove, SaysWhoMovedHowMuchWhere) {
  const std::vector<Traffic> traffic = {moved(hook_stack())};
  const std::vector<Finding> findings = silent_moves(traffic, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "accelerate/hooks.py:397 moved 24.0 KiB a step (1 tensor a step, 6 steps) from cuda:0 "
            "to cuda:1, in the call at me.py:41");
  EXPECT_EQ(findings[0].level, Level::kWarning);
  EXPECT_EQ(findings[0].place.line, 41);
  EXPECT_EQ(findings[0].run->count, 6);
  EXPECT_EQ(findings[0].run->bytes, 6 * 24576);
  EXPECT_EQ(findings[0].path.front().label, "moved");
  EXPECT_THAT(findings[0].advice, HasSubstr("device map"));
}

TEST(SilentMove, WithoutStepsThereIsASum) {
  Traffic once = moved(hook_stack());
  once.steps = 1;
  once.count = 3;
  once.bytes = 3000;
  const std::vector<Traffic> traffic = {once};
  EXPECT_THAT(silent_moves(traffic, {}).at(0).message, HasSubstr("moved 2.9 KiB (3 tensors) from"));
}

TEST(SilentMove, OneFindingForEachPlaceAndRouteMostBytesFirst) {
  Stack other_caller = hook_stack();
  other_caller.insert(other_caller.begin() + 1, package("helper", "accelerate/utils/a.py", 3));
  Traffic back = moved(hook_stack(), kCuda1, kCuda0);
  back.bytes = 1'000'000;
  const std::vector<Traffic> traffic = {moved(hook_stack()), moved(other_caller), back};
  const std::vector<Finding> findings = silent_moves(traffic, {});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].run->bytes, 1'000'000);
  EXPECT_EQ(findings[1].run->count, 12);
  EXPECT_NE(findings[0].run->arguments[0].name, findings[1].run->arguments[0].name);
}

}  // namespace
}  // namespace devsan::trace
