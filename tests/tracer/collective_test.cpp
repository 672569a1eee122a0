// Refused collectives: which tensor or which process, and the line.
#include "core/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;
using Kind = Origin::Kind;
using testing::HasSubstr;

Scene all_reduce(Suspect suspect) {
  Scene scene;
  scene.op = "c10d::allreduce_";
  scene.suspects = {std::move(suspect)};
  scene.use = {user("evaluate", 52), user("main", 90)};
  return scene;
}

RunFacts rank_1(std::string error) {
  RunFacts facts;
  facts.rank = 1;
  facts.world_size = 2;
  facts.error = std::move(error);
  return facts;
}

TEST(Collective, TensorOnTheCpu) {
  Suspect metric = tensor("tensors[0]", kCpu, {step(Kind::kCreated, kCpu, {user("evaluate", 44)})});
  metric.variable = "correct";
  const Finding finding =
      make_collective_finding(all_reduce(metric), {kCuda1, {}, {}},
                              rank_1("No backend type associated with device type cpu"));
  EXPECT_EQ(finding.rule, "collective-device");
  EXPECT_EQ(finding.level, Level::kError);
  EXPECT_EQ(finding.place.line, 52);
  EXPECT_THAT(finding.advice, HasSubstr("correct.to(\"cuda:1\")"));
  EXPECT_TRUE(finding.run->arguments.at(0).odd);
  EXPECT_EQ(finding.path.size(), 2u);
}

TEST(Collective, WithoutAnEarlierOneTheRanksDeviceIsLeftOpen) {
  const Finding finding =
      make_collective_finding(all_reduce(tensor("tensors[0]", kCpu)), {},
                              rank_1("No backend type associated with device type cpu"));
  EXPECT_THAT(finding.advice, HasSubstr("tensors[0].to(device)"));
}

TEST(Collective, LiteralIsTheLineToChange) {
  const std::string file =
      source_file(testing::TempDir() + "collective.py", {"", "total = total.to(\"cuda:0\")"});
  const Finding finding = make_collective_finding(
      all_reduce(
          tensor("tensors[0]", kCuda0, {step(Kind::kMoved, kCuda0, {user("evaluate", 2, file)})})),
      {kCuda1, {}, {}}, rank_1("Tensor found on device cuda:0 but backend constrained to cuda:1"));
  EXPECT_EQ(finding.place.line, 2);
  EXPECT_THAT(finding.advice, HasSubstr("instead of \"cuda:0\""));
}

TEST(Collective, SharedGpuIsTheFirstUseOfCuda) {
  const Finding finding = make_collective_finding(
      all_reduce(tensor("tensors[0]", kCuda0)), {kCuda0, kCuda0, {user("main", 7)}},
      rank_1("NCCL error in: NCCLUtils.cpp:94, invalid usage\nLast error:\nDuplicate GPU detected "
             ": rank 1 and rank 0 both on CUDA device 1000"));
  EXPECT_EQ(finding.place.line, 7);
  EXPECT_THAT(finding.advice, HasSubstr("torch.cuda.set_device(local_rank)"));
  EXPECT_EQ(finding.run->error,
            "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000");
}

TEST(Collective, InCppTheEditIsCpp) {
  const Finding finding = make_collective_finding(
      all_reduce(tensor("tensors[0]", kCuda0)), {kCuda0, kCuda0, {user("main", 7, "main.cpp")}},
      rank_1("Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000"));
  EXPECT_THAT(finding.advice, HasSubstr("c10::cuda::set_device(local_rank)"));
}

}  // namespace
}  // namespace devsan::trace
