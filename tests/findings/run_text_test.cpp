// The text of a runtime report, against the form that interface documents give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "devsan/findings/writers.h"
#include "samples.h"

namespace devsan {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const Finding& finding, RunTextOptions options = {}) {
  std::ostringstream out;
  write_run_text(out, finding, options);
  return out.str();
}

TEST(RunText, IsTheReportOfTheUserGuide) {
  EXPECT_EQ(
      text_of(sample_run_finding()),
      R"(==4711==ERROR: DevSan: device-mismatch in aten::cudnn_convolution (rank 1 of 2, step 0, op 1532)
  input   Half[2,3,28,28]   cuda:0  <- odd one out
  weight  Half[32,3,14,14]  cuda:1  lmm.embeddings.patch_embedding.weight
    #0 ICVModel.forward  train.py:41
    #1 <module>          train.py:99
  'input' was moved to cuda:0
    #0 LMM.process_input  train.py:38     {k: v.to("cuda:0")}
  'input' was created on cpu
    #0 Pairs.__getitem__  train.py:81
  Rank 1 owns cuda:1; this literal names another rank's device.
  Fix: train.py:38: use self.model.device instead of "cuda:0"
SUMMARY: DevSan: device-mismatch train.py:38 in LMM.process_input
)");
}

TEST(RunText, AWarningIsTwoLines) {
  Finding finding = sample_run_finding();
  finding.rule = "silent-move";
  finding.level = Level::kWarning;
  finding.message = "lib/hooks.py:9 moved 24.0 KiB a step";
  finding.advice = "hand it over there";
  EXPECT_EQ(text_of(finding),
            "==4711==WARNING: DevSan: silent-move train.py:38 (rank 1 of 2): lib/hooks.py:9 moved "
            "24.0 KiB a step\n  Fix: hand it over there\n");
  EXPECT_THAT(text_of(finding, {.color = false, .full_stacks = true}),
              HasSubstr("SUMMARY: DevSan: silent-move"));
}

TEST(RunText, WhatAFunctionRaisedIsNotCalledPyTorchs) {
  Finding finding = sample_run_finding();
  finding.run->op.name = "Trainer._run_epoch";
  finding.run->error = "ValueError: not there";
  EXPECT_THAT(text_of(finding), HasSubstr("\n  ValueError: not there\n"));
}

TEST(RunText, OneProcessHasNoRank) {
  Finding finding = sample_run_finding();
  finding.run->world_size = 1;
  finding.run->rank = 0;
  EXPECT_THAT(text_of(finding), HasSubstr("(step 0, op 1532)"));
}

TEST(RunText, NamesTheInnerOpAndTheForwardOp) {
  Finding finding = sample_run_finding();
  finding.run->inner_op = "aten::addmm";
  finding.run->error = "Expected all tensors to be on the same device";
  finding.run->op.backward = true;
  finding.run->forward_stack = {{"Net.forward", "net.py", 3}};
  const std::string text = text_of(finding);
  EXPECT_THAT(text, HasSubstr("aten::cudnn_convolution called aten::addmm, whose check failed"));
  EXPECT_THAT(text, HasSubstr("PyTorch: Expected all tensors"));
  EXPECT_THAT(text, HasSubstr("in the backward pass of the op called at\n    #0 Net.forward"));
}

TEST(RunText, LongStacksAreCutUnlessAskedFor) {
  Finding finding = sample_run_finding();
  finding.run->stack.assign(40, {"recurse", "deep.py", 5});
  EXPECT_THAT(text_of(finding), HasSubstr("... 28 more (--full-stacks shows them)"));
  EXPECT_THAT(text_of(finding, {false, true}), HasSubstr("#39 recurse"));
}

TEST(RunText, ColourOnlyWhenAskedFor) {
  EXPECT_THAT(text_of(sample_run_finding()), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(text_of(sample_run_finding(), {true, false}), HasSubstr("\x1b[1;31m==4711==ERROR"));
}

}  // namespace
}  // namespace devsan
