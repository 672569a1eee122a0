// The line to change, for each line of the table in remedy.h.
#include "core/remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;
using Kind = Origin::Kind;
using Link = Origin::Link;
using testing::HasSubstr;

// main() calls Net.forward at line 20, which uses the tensors at line 10.
Scene scene_of(std::vector<Suspect> suspects) {
  Scene scene;
  scene.op = "aten::op";
  scene.suspects = std::move(suspects);
  scene.use = {user("Net.forward", 10), library("call"), user("main", 20)};
  return scene;
}

Remedy remedy_for(const Scene& scene, std::size_t odd, Reason reason = Reason::kApart) {
  return find_remedy(scene, {odd, reason});
}

TEST(Remedy, MoveByTheUser) {
  const Scene scene = scene_of(
      {tensor("x", kCuda0, {step(Kind::kMoved, kCuda0, {user("main", 15)})}), tensor("y", kCuda1)});
  const Remedy remedy = remedy_for(scene, 0);
  EXPECT_EQ(remedy.place.line, 15);
  EXPECT_THAT(remedy.why, HasSubstr("moved there at me.py:15"));
}

TEST(Remedy, MoveOfTheDataItWasComputedFromAlone) {
  const Scene scene =
      scene_of({tensor("x", kCuda0,
                       {step(Kind::kCreated, kCuda0, {user("main", 16)}, Link::kSame),
                        step(Kind::kMoved, kCuda0, {user("main", 15)})}),
                tensor("y", kCuda1)});
  EXPECT_EQ(remedy_for(scene, 0).place.line, 15);
}

TEST(Remedy, MoveOfATensorBesideIsNotToBlame) {
  const Scene scene = scene_of(
      {tensor("x", kCuda0,
              {step(Kind::kCreated, kCuda0,
                    {user("Net.forward", 8), library("call"), user("main", 20)}, Link::kBeside),
               step(Kind::kMoved, kCuda0, {user("main", 15)})}),
       tensor("y", kCuda1)});
  EXPECT_EQ(remedy_for(scene, 0).place.line, 10);
}

TEST(Remedy, LiteralBesideIsToBlame) {
  const std::string file =
      source_file(testing::TempDir() + "remedy.py", {"tokens = tokens.to(\"cuda:0\")"});
  Scene scene =
      scene_of({tensor("x", kCuda0,
                       {step(Kind::kCreated, kCuda0, {user("Net.forward", 8)}, Link::kBeside),
                        step(Kind::kMoved, kCuda0, {user("main", 1, file)})}),
                tensor("y", kCuda1)});
  scene.local_rank = 1;
  const Remedy remedy = remedy_for(scene, 0, Reason::kLiteral);
  EXPECT_EQ(remedy.place.file, file);
  EXPECT_EQ(remedy.place.line, 1);
  EXPECT_THAT(remedy.advice, HasSubstr("instead of \"cuda:0\""));
  EXPECT_THAT(remedy.why, HasSubstr("Rank 1 owns cuda:1"));
}

TEST(Remedy, MadeInForward) {
  const Stack made = {user("make_mask", 3), user("Net.forward", 9), library("call"),
                      user("main", 20)};
  const Scene scene =
      scene_of({tensor("mask", kCpu, {step(Kind::kCreated, kCpu, made)}), tensor("y", kCuda1)});
  EXPECT_EQ(remedy_for(scene, 0).place.line, 3);
}

TEST(Remedy, MadeInTheFunctionThatUsesIt) {
  Scene scene = scene_of(
      {tensor("x", kCpu, {step(Kind::kCreated, kCpu, {user("main", 18)})}), tensor("y", kCuda1)});
  scene.use = {user("main", 20)};
  EXPECT_EQ(remedy_for(scene, 0).place.line, 18);
}

TEST(Remedy, BatchFieldIsMovedWhereItEnters) {
  const Stack made = {user("Data.__getitem__", 3), library("fetch"), user("main", 19)};
  const Scene scene =
      scene_of({tensor("labels", kCpu, {step(Kind::kCreated, kCpu, made)}), tensor("y", kCuda1)});
  const Remedy remedy = remedy_for(scene, 0);
  EXPECT_EQ(remedy.place.line, 20);
  EXPECT_THAT(remedy.advice, HasSubstr("labels = labels.to("));
}

TEST(Remedy, MoveByALibraryIsAnsweredWhereTheTensorIsUsed) {
  const Stack moved = {library("send_to_device"), user("main", 19)};
  const Scene scene = scene_of(
      {tensor("labels", kCuda0, {step(Kind::kMoved, kCuda0, moved)}), tensor("y", kCuda1)});
  EXPECT_EQ(remedy_for(scene, 0).place.line, 20);
}

TEST(Remedy, AdapterNamesItsBaseLayer) {
  const Scene scene =
      scene_of({tensor("x", kCuda1), parameter("weight", kCuda0, "q.lora_A.weight",
                                               {step(Kind::kMoved, kCuda0, {user("build", 5)})})});
  const Remedy remedy = remedy_for(scene, 1, Reason::kAdapter);
  EXPECT_EQ(remedy.place.line, 5);
  EXPECT_THAT(remedy.why, HasSubstr("q.lora_A.weight is on cuda:0, its base layer q on cuda:1"));
}

TEST(Remedy, UncertainOnesAreCandidates) {
  const Scene scene =
      scene_of({tensor("x", kCuda0, {step(Kind::kCreated, kCuda0, {user("main", 3)})}),
                tensor("y", kCuda1, {step(Kind::kCreated, kCuda1, {user("main", 4)})})});
  const Remedy remedy = find_remedy(scene, {});
  EXPECT_EQ(remedy.place.line, 10);
  EXPECT_THAT(remedy.advice, HasSubstr("me.py:3"));
  EXPECT_THAT(remedy.advice, HasSubstr("me.py:4"));
}

TEST(Remedy, HolderIsTheFunctionThatBothStacksShare) {
  const Stack use = {user("loss", 3), user("train", 12), user("main", 20)};
  const Stack made = {user("batch", 5), user("train", 11), user("main", 20)};
  EXPECT_EQ(holder_of(use, made)->frame.line, 12);
  const Stack elsewhere = {user("worker", 1)};
  EXPECT_EQ(holder_of(use, elsewhere)->frame.line, 3);
}

TEST(Remedy, AMemberThatWasNeverRegistered) {
  const std::string file =
      source_file(testing::TempDir() + "unregistered.py", {"        self.scale = torch.ones(1)"});
  const Scene scene = scene_of(
      {tensor("x", kCuda0),
       tensor("other", kCpu, {step(Kind::kCreated, kCpu, {user("Net.__init__", 1, file)})})});
  const Remedy remedy = remedy_for(scene, 1, Reason::kLeftOnCpu);
  EXPECT_EQ(remedy.place.file, file);
  EXPECT_EQ(remedy.place.line, 1);
  EXPECT_THAT(remedy.why, HasSubstr("constructor of Net and never registered"));
  EXPECT_THAT(remedy.advice, HasSubstr("register_buffer(\"scale\""));
}

TEST(Remedy, AFieldThatWasForgottenBelongsWhereItsSiblingsAreMoved) {
  const Stack made = {user("make_batch", 33), user("main", 20)};
  Scene scene =
      scene_of({tensor("x", kCpu, {step(Kind::kCreated, kCpu, made)}), tensor("y", kCuda0)});
  EXPECT_EQ(remedy_for(scene, 0, Reason::kLeftOnCpu).place.line, 20);  // where it is handed over
  scene.moves = {{kCuda0,
                  1,
                  "aten::to",
                  {user("process", 66), user("main", 20)},
                  {user("make_batch", 30), user("main", 20)}}};
  const Remedy remedy = remedy_for(scene, 0, Reason::kLeftOnCpu);
  EXPECT_EQ(remedy.place.line, 66);
  EXPECT_THAT(remedy.why, HasSubstr("made at me.py:33 and never moved"));
}

TEST(Remedy, ALiteralThatAnotherTensorFollowed) {
  const std::string file =
      source_file(testing::TempDir() + "followed.py", {"ids = ids.to(\"cuda:0\")"});
  Scene scene =
      scene_of({tensor("pixels", kCuda0,
                       {step(Kind::kMoved, kCuda0,
                             {library("Idefics.forward"), user("Net.forward", 9)}, Link::kFollowed),
                        step(Kind::kMoved, kCuda0, {user("process", 1, file)}, Link::kSame),
                        step(Kind::kCreated, kCpu, {user("main", 5)})}),
                tensor("weight", kCuda1)});
  const Remedy remedy = remedy_for(scene, 0, Reason::kNotWithParameters);
  EXPECT_EQ(remedy.place.file, file);
  EXPECT_THAT(remedy.advice, HasSubstr("instead of \"cuda:0\""));
}

}  // namespace
}  // namespace devsan::trace
