// Data parallelism as DistributedDataParallel has it: every rank has the whole model and its part
// of each batch, and gradients are averaged over the ranks while backward is still running.
#pragma once

#include <torch/nn/module.h>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <memory>

#include "process_group.h"

namespace models::multimodal {

class DataParallel {
 public:
  // Every rank gets rank 0's values of parameters and buffers. Gradients of those parameters that
  // need one are put into buckets, each of which is reduced when its last gradient is there.
  //
  // Throws c10::Error when the parameters of the ranks differ in number or shape.
  DataParallel(const torch::nn::Module& model, const ProcessGroup& group);

  // To be called before each forward that is followed by a backward, and between the two.
  void before_forward();
  void before_backward();

  std::size_t bucket_count() const;

 private:
  std::unique_ptr<c10d::Reducer> reducer_;
};

}  // namespace models::multimodal
