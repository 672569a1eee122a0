// Members that were never registered, and what only looks like one.
#include "core/unregistered.h"

#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;
using Kind = Origin::Kind;
using Link = Origin::Link;

Scene used_in(const std::string& function, Suspect suspect) {
  Scene scene;
  scene.suspects = {std::move(suspect), tensor("other", kCuda0)};
  scene.use = {user(function, 87), user("main", 9)};
  return scene;
}

Suspect made_in(const std::string& function, const std::string& file = "me.cpp", int line = 75) {
  return tensor("scale", kCpu, {step(Kind::kCreated, kCpu, {user(function, line, file)})});
}

TEST(Unregistered, AMemberOfACppModule) {
  const std::string file =
      source_file(testing::TempDir() + "member.cpp", {"  scale_ = torch::full({1}, scale);"});
  const Scene scene = used_in("models::AttentionImpl::forward",
                              made_in("models::AttentionImpl::AttentionImpl", file, 1));
  const auto found = unregistered_member(scene, scene.suspects[0]);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->made->frame.line, 1);
  EXPECT_EQ(found->type, "models::AttentionImpl");
  EXPECT_EQ(found->member, "scale_");
}

TEST(Unregistered, AMemberOfAPythonModule) {
  const std::string file =
      source_file(testing::TempDir() + "member.py", {"        self.scale = torch.ones(1)"});
  const Scene scene = used_in("Attention._scaled", made_in("Attention.__init__", file, 1));
  const auto found = unregistered_member(scene, scene.suspects[0]);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->member, "scale");
}

TEST(Unregistered, OfATemplate) {
  const Scene scene =
      used_in("ns::Cross<ns::Wide>::forward", made_in("ns::Cross<ns::Wide>::Cross"));
  EXPECT_TRUE(unregistered_member(scene, scene.suspects[0]));
}

TEST(Unregistered, NotWhatAnotherClassUses) {
  const Scene scene = used_in("models::HeadImpl::forward", made_in("models::BodyImpl::BodyImpl"));
  EXPECT_FALSE(unregistered_member(scene, scene.suspects[0]));
}

TEST(Unregistered, NotWhatAMethodMakes) {
  const Scene scene = used_in("Net.forward", made_in("Net.prepare"));
  EXPECT_FALSE(unregistered_member(scene, scene.suspects[0]));
}

TEST(Unregistered, NotWhatIsAParameterOrABuffer) {
  Suspect registered = made_in("Net.__init__");
  registered.argument.parameter = "scale";
  const Scene scene = used_in("Net.forward", registered);
  EXPECT_FALSE(unregistered_member(scene, scene.suspects[0]));
}

TEST(Unregistered, NotWhatWasMovedOrComputedFromOthers) {
  Suspect moved = made_in("Net.__init__");
  moved.path.insert(moved.path.begin(), step(Kind::kMoved, kCuda0, {user("main", 3)}, Link::kSame));
  Suspect computed = made_in("Net.__init__");
  computed.path.insert(computed.path.begin(),
                       step(Kind::kCreated, kCpu, {user("Net.forward", 3)}, Link::kBeside));
  for (const Suspect& suspect : {moved, computed}) {
    const Scene scene = used_in("Net.forward", suspect);
    EXPECT_FALSE(unregistered_member(scene, scene.suspects[0]));
  }
}

}  // namespace
}  // namespace devsan::trace
