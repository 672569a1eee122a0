// Each rule of blame, and what must not trigger it.
#include "core/blame.h"

#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;
using Kind = Origin::Kind;

Scene scene_of(std::vector<Suspect> suspects, std::vector<Placement> model = {}) {
  Scene scene;
  scene.op = "aten::op";
  scene.suspects = std::move(suspects);
  scene.model = std::move(model);
  scene.use = {user("Net.forward", 10), user("main", 20)};
  return scene;
}

TEST(Blame, AdapterAwayFromItsBaseLayer) {
  const Blame blame = find_odd_one(
      scene_of({tensor("input", kCuda1), parameter("weight", kCuda0, "block.2.q.lora_A.weight")},
               {{"block.2.q.weight", kCuda1}, {"block.2.q.lora_A.weight", kCuda0}}));
  EXPECT_EQ(blame.odd, 1u);
  EXPECT_EQ(blame.reason, Reason::kAdapter);
}

TEST(Blame, AdapterBesideItsBaseLayerIsNotTheOddOne) {
  const Blame blame = find_odd_one(
      scene_of({tensor("input", kCuda1), parameter("weight", kCuda0, "block.2.q.lora_A.weight")},
               {{"block.2.q.weight", kCuda0}, {"block.2.q.lora_A.weight", kCuda0}}));
  EXPECT_EQ(blame.odd, 0u);
  EXPECT_EQ(blame.reason, Reason::kNotWithParameters);
}

TEST(Blame, BaseLayerOfAnAdapter) {
  EXPECT_EQ(base_layer_of_adapter("a.q.lora_A.default.weight"), "a.q");
  EXPECT_EQ(base_layer_of_adapter("a.q.weight"), std::nullopt);
  EXPECT_EQ(base_layer_of_adapter("exploration.weight"), std::nullopt);
}

TEST(Blame, ParameterThatForwardMoved) {
  const Blame blame =
      find_odd_one(scene_of({tensor("input", kCuda1),
                             parameter("weight", kCuda0, "head.weight",
                                       {step(Kind::kMoved, kCuda0, {user("Net.forward", 9)})})}));
  EXPECT_EQ(blame.odd, 1u);
  EXPECT_EQ(blame.reason, Reason::kMovedInForward);
}

TEST(Blame, ParameterThatALibrarysHookMovedInForwardIsWhereItIsMeantToBe) {
  const Blame blame = find_odd_one(scene_of(
      {tensor("input", kCuda1),
       parameter("weight", kCuda0, "head.weight",
                 {step(Kind::kMoved, kCuda0, {library("pre_forward"), user("Net.forward", 9)})})}));
  EXPECT_EQ(blame.odd, 0u);
}

TEST(Blame, TheOneLeftOnTheCpu) {
  const Blame blame = find_odd_one(scene_of({tensor("self", kCuda0), tensor("other", kCpu)}));
  EXPECT_EQ(blame.odd, 1u);
  EXPECT_EQ(blame.reason, Reason::kLeftOnCpu);
}

TEST(Blame, ModelThatWasNeverMoved) {
  const Blame blame = find_odd_one(
      scene_of({tensor("input", kCuda0), parameter("weight", kCpu, "w")}, {{"w", kCpu}}));
  EXPECT_EQ(blame.odd, 1u);
}

TEST(Blame, ModelSplitBetweenCpuAndGpuIsWhereItIsMeantToBe) {
  const Blame blame =
      find_odd_one(scene_of({tensor("input", kCuda0), parameter("weight", kCpu, "b.w")},
                            {{"a.w", kCuda0}, {"b.w", kCpu}}));
  EXPECT_EQ(blame.odd, 0u);
  EXPECT_EQ(blame.reason, Reason::kNotWithParameters);
}

TEST(Blame, LiteralOnOneSideOnly) {
  const std::string file =
      source_file(testing::TempDir() + "blame.py",
                  {"a = x.to(\"cuda:0\")", "b = y.to(device)", "c = z.to('cuda:1')"});
  const auto moved = [&](Device device, int line) {
    return std::vector<Step>{step(Kind::kMoved, device, {user("main", line, file)})};
  };
  const Blame one = find_odd_one(scene_of(
      {tensor("self", kCuda1, moved(kCuda1, 2)), tensor("other", kCuda0, moved(kCuda0, 1))}));
  EXPECT_EQ(one.odd, 1u);
  EXPECT_EQ(one.reason, Reason::kLiteral);
  const Blame both = find_odd_one(scene_of(
      {tensor("self", kCuda1, moved(kCuda1, 3)), tensor("other", kCuda0, moved(kCuda0, 1))}));
  EXPECT_FALSE(both.certain());
}

TEST(Blame, ActivationsFollowParameters) {
  const Blame blame =
      find_odd_one(scene_of({parameter("bias", kCuda1, "head.bias"), tensor("mat1", kCuda0),
                             parameter("mat2", kCuda1, "head.weight")}));
  EXPECT_EQ(blame.odd, 1u);
}

TEST(Blame, TheOneApart) {
  const Blame blame =
      find_odd_one(scene_of({tensor("a", kCuda0), tensor("b", kCuda1), tensor("c", kCuda0)}));
  EXPECT_EQ(blame.odd, 1u);
  EXPECT_EQ(blame.reason, Reason::kApart);
}

TEST(Blame, TheOneNotComputedFromParametersExceptInBackward) {
  Suspect logits = tensor("self", kCuda1);
  logits.requires_grad = true;
  Scene scene = scene_of({logits, tensor("target", kCuda0)});
  EXPECT_EQ(find_odd_one(scene).odd, 1u);
  scene.backward = true;
  EXPECT_FALSE(find_odd_one(scene).certain());
}

TEST(Blame, PyTorchsCheckAloneIsNotCertain) {
  Suspect other = tensor("other", kCuda1);
  other.named_by_pytorch = true;
  const Blame blame = find_odd_one(scene_of({tensor("self", kCuda0), other}));
  EXPECT_EQ(blame.odd, 1u);
  EXPECT_FALSE(blame.certain());
}

TEST(Blame, ScalarsOnTheCpuAreLegal) {
  Suspect scalar = tensor("other", kCpu);
  scalar.scalar = true;
  const Blame blame = find_odd_one(
      scene_of({tensor("a", kCuda0), scalar, tensor("b", kCuda1), tensor("c", kCuda0)}));
  EXPECT_EQ(blame.odd, 2u);
}

TEST(Blame, ScalarIsTheOddOneWhereNothingElseDiffers) {
  Suspect scalar = tensor("self", kCpu);
  scalar.scalar = true;
  EXPECT_EQ(find_odd_one(scene_of({scalar, tensor("mat1", kCuda0), tensor("mat2", kCuda0)})).odd,
            0u);
}

TEST(Blame, NothingToSayOfNothing) {
  EXPECT_FALSE(find_odd_one(scene_of({})).odd);
}

}  // namespace
}  // namespace devsan::trace
