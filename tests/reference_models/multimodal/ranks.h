// Ranks of a test: processes that meet over a store, as those of a user's program do.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "multimodal/trainer.h"

namespace models::multimodal {

using Tensors = std::map<std::string, torch::Tensor>;

// What `work` returned in each of `ranks` processes, by rank. They train on the CPU over Gloo. A
// failed expectation in one fails the test that calls this, and so does an exception; a UsageError
// is thrown here again.
std::vector<Tensors> run_as_ranks(int ranks, const std::function<Tensors(const Rank&)>& work);

}  // namespace models::multimodal
