// Exceptions about devices that no op raised.
#include "core/uncaught.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;
using Kind = Origin::Kind;
using testing::HasSubstr;

constexpr const char* kLossMessage =
    "Calculated loss must be on the original device: cuda:0 but device in use is cuda:1";

class UncaughtTest : public testing::Test {
 protected:
  // Trainer's own check: it has the loss and its own sum in hand, and the batch.
  Uncaught trainers_check() {
    Suspect loss = tensor(
        "tr_loss_step", kCuda1,
        {step(Kind::kCreated, kCuda1,
              {user("Net.forward", 3, file_), library("Trainer.step"), user("main", 20, file_)})});
    loss.mentioned = true;
    Suspect sum = tensor("self._tr_loss", kCuda0);
    sum.mentioned = true;
    Uncaught uncaught;
    uncaught.type = "ValueError";
    uncaught.message = kLossMessage;
    uncaught.scene.op = "Trainer._run_epoch";
    uncaught.scene.suspects = {std::move(loss), std::move(sum), tensor("inputs[\"ids\"]", kCuda0)};
    uncaught.scene.use = {library("Trainer._run_epoch"), user("main", 20, file_)};
    return uncaught;
  }

  std::string file_ =
      source_file(testing::TempDir() + "uncaught.py",
                  {"class Net:", "    def forward(self, ids, labels=None):",
                   "        loss = self.loss_fn(logits, labels)",
                   "        if labels is None:", "            return logits",
                   "        return Output(loss=loss)", "", "def other():", "    return loss"});
};

TEST_F(UncaughtTest, ResultIsMovedWhereItIsReturned) {
  const Finding finding = make_uncaught_finding(trainers_check(), {});
  EXPECT_EQ(finding.rule, "device-mismatch");
  EXPECT_EQ(finding.place.file, file_);
  EXPECT_EQ(finding.place.line, 6);
  EXPECT_THAT(finding.advice, HasSubstr("loss = loss.to(ids.device)"));
  EXPECT_EQ(finding.run->op.name, "Trainer._run_epoch");
  EXPECT_EQ(finding.run->error, std::string("ValueError: ") + kLossMessage);
}

TEST_F(UncaughtTest, TensorsOfTheRaisingStatementAreShownAndTheOddOneMarked) {
  const Finding finding = make_uncaught_finding(trainers_check(), {});
  ASSERT_EQ(finding.run->arguments.size(), 2u);
  EXPECT_EQ(finding.run->arguments[0].name, "tr_loss_step");
  EXPECT_TRUE(finding.run->arguments[0].odd);
  EXPECT_FALSE(finding.run->arguments[1].odd);
}

TEST_F(UncaughtTest, AnArgumentOnAnotherDeviceIsNotSuggested) {
  Uncaught uncaught = trainers_check();
  uncaught.scene.suspects[2] = tensor("inputs[\"ids\"]", kCpu);
  EXPECT_THAT(make_uncaught_finding(uncaught, {}).advice, HasSubstr("move loss to cuda:0"));
}

TEST_F(UncaughtTest, ParameterIsPutWhereItIsWanted) {
  Uncaught uncaught = trainers_check();
  uncaught.type = "RuntimeError";
  uncaught.message =
      "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found one "
      "of them on device: cpu";
  uncaught.scene.suspects = {parameter("t", kCpu, "head.weight")};
  const Finding finding = make_uncaught_finding(uncaught, {});
  EXPECT_EQ(finding.place.line, 20);
  EXPECT_THAT(finding.advice, HasSubstr("put head.weight on cuda:0"));
}

TEST_F(UncaughtTest, LiteralIsTheLineToChange) {
  const std::string file =
      source_file(testing::TempDir() + "uncaught2.py", {"x = x.to(\"cuda:1\")"});
  Uncaught uncaught = trainers_check();
  uncaught.scene.suspects = {
      tensor("x", kCuda1, {step(Kind::kMoved, kCuda1, {user("main", 1, file)})})};
  const Finding finding = make_uncaught_finding(uncaught, {});
  EXPECT_EQ(finding.place.file, file);
  EXPECT_THAT(finding.advice, HasSubstr("use cuda:0 instead of \"cuda:1\""));
}

TEST_F(UncaughtTest, InvalidGradientIsTheForwardLine) {
  Uncaught uncaught = trainers_check();
  uncaught.message =
      "Function MixBackward returned an invalid gradient at index 0 - expected device cuda:0 but "
      "got cuda:1";
  uncaught.scene.suspects.clear();
  uncaught.scene.forward = {user("Net.forward", 3, file_)};
  const Finding finding = make_uncaught_finding(uncaught, {});
  EXPECT_EQ(finding.place.line, 3);
  EXPECT_THAT(finding.advice, HasSubstr("cuda:0"));
}

TEST_F(UncaughtTest, WithoutTensorsTheCallIsNamed) {
  Uncaught uncaught = trainers_check();
  uncaught.scene.suspects.clear();
  EXPECT_EQ(make_uncaught_finding(uncaught, {}).place.line, 20);
}

TEST_F(UncaughtTest, TensorsBearOutWhatTheMessageSays) {
  Uncaught uncaught = trainers_check();
  EXPECT_TRUE(shows_mismatch(uncaught));
  uncaught.scene.suspects = {tensor("x", kCuda1)};
  EXPECT_TRUE(shows_mismatch(uncaught));
  uncaught.scene.suspects = {tensor("x", kCpu)};
  EXPECT_FALSE(shows_mismatch(uncaught));
  uncaught.scene.suspects.clear();
  EXPECT_FALSE(shows_mismatch(uncaught));
}

TEST_F(UncaughtTest, AnOptionIsNotATensor) {
  Uncaught uncaught;
  uncaught.message = "device must be one of 'cpu' or 'cuda', but got 'gpu'";
  uncaught.scene.suspects = {tensor("x", kCpu), tensor("y", kCpu)};
  EXPECT_FALSE(shows_mismatch(uncaught));
  uncaught.tensors_known = false;
  EXPECT_FALSE(shows_mismatch(uncaught));
}

TEST_F(UncaughtTest, PyTorchsOwnWordsNeedNoMore) {
  Uncaught uncaught;
  uncaught.message =
      "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
      "host memory first.";
  EXPECT_TRUE(shows_mismatch(uncaught));
}

}  // namespace
}  // namespace devsan::trace
