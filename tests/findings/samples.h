// Findings that tests of the writers share.
#pragma once

#include "devsan/findings/finding.h"

namespace devsan {

// The report that the user guide shows: pixels that followed the tokens to another rank's device.
inline Finding sample_run_finding() {
  Finding finding;
  finding.rule = "device-mismatch";
  finding.level = Level::kError;
  finding.message = "'input' is on cuda:0, the other arguments are on cuda:1";
  finding.place = {"train.py", 38, 0, 0, 0};
  finding.path = {
      {"used", "cuda:0", "", {"train.py", 41, 0, 0, 0}, "", {{"ICVModel.forward", "train.py", 41}}},
      {"moved",
       "cuda:0",
       "",
       {"train.py", 38, 0, 0, 0},
       "{k: v.to(\"cuda:0\")}",
       {{"LMM.process_input", "train.py", 38}}},
      {"created",
       "cpu",
       "",
       {"train.py", 81, 0, 0, 0},
       "",
       {{"Pairs.__getitem__", "train.py", 81}}}};
  finding.why = "Rank 1 owns cuda:1; this literal names another rank's device.";
  finding.advice = "use self.model.device instead of \"cuda:0\"";
  RunFacts run;
  run.process = 4711;
  run.rank = 1;
  run.world_size = 2;
  run.step = 0;
  run.collectives = 3;
  run.time_us = 1'700'000'000'000'000;
  run.op = {"aten::cudnn_convolution", 1532, false};
  run.arguments = {{"input", "Half", {2, 3, 28, 28}, "cuda:0", std::nullopt, true},
                   {"weight",
                    "Half",
                    {32, 3, 14, 14},
                    "cuda:1",
                    "lmm.embeddings.patch_embedding.weight",
                    false}};
  run.stack = {{"ICVModel.forward", "train.py", 41}, {"<module>", "train.py", 99}};
  finding.run = run;
  return finding;
}

inline Finding sample_lint_finding() {
  Finding finding;
  finding.rule = "dropped-move";
  finding.message = "the result of Tensor::to is dropped: 'x' stays where it is";
  finding.place = {"model.cpp", 7, 3, 7, 11};
  finding.fixes = {{{"model.cpp", 7, 3, 7, 3}, "x = "}};
  return finding;
}

}  // namespace devsan
